"""The attack laboratory: every attack of the threat model, tried on plain tables, on naive designs and on discreet."""
