-- Eight tables of one area of the application.
CREATE TABLE app.{area}_kind (id int PRIMARY KEY, code varchar(20) UNIQUE, label varchar(80));
CREATE TABLE app.{area}_group (id int PRIMARY KEY, label varchar(80), "kindId" int REFERENCES app.{area}_kind);
CREATE TABLE app.{area} (id bigint PRIMARY KEY, "userId" bigint NOT NULL REFERENCES app."user" ON DELETE CASCADE, "groupId" int REFERENCES app.{area}_group, status varchar(12) CHECK (status IN ('new', 'done')), rating app.score, "updatedAt" timestamptz);
CREATE TABLE app.{area}_line (id bigint PRIMARY KEY, "{area}Id" bigint NOT NULL REFERENCES app.{area}, amount numeric(12,2), quantity smallint CHECK (quantity > 0 AND quantity < 1000));
CREATE TABLE app.{area}_note (id bigint PRIMARY KEY, "lineId" bigint REFERENCES app.{area}_line, body text);
CREATE TABLE app.{area}_event (id bigint PRIMARY KEY, "{area}Id" bigint REFERENCES app.{area}, kind varchar(20), payload jsonb);
CREATE TABLE app.{area}_file (id bigint PRIMARY KEY, "{area}Id" bigint REFERENCES app.{area}, path text, size bigint);
CREATE TABLE app.{area}_late (id bigint PRIMARY KEY, "{area}Id" bigint REFERENCES app.{area} DEFERRABLE INITIALLY DEFERRED);
