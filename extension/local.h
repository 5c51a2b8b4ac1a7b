/*
 * local.h: what the parts of local differential privacy know of each other.
 *
 *   local.c     coins, the mechanisms rr, rr_bits and cms_encode, and domains of values
 *   local_tally.c     the estimators, as aggregates
 *   local_respond.c   the trigger of rr_column
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "discreet.h"

#include "utils/array.h"

#define MOST_HASHES 4096
#define HASHES_PER_DIGEST 16
#define LEAST_WIDTH 16
#define MOST_WIDTH 32768
#define SKETCH_HEADER 2			/* bytes that say which hash */

/*
 * Randomised response among so many choices: of 2^64 equally likely draws, `lies` lead away from the truth, to each
 * other choice alike. These are exact numbers: what is promised is made of them, and the estimators use them too.
 */
typedef struct Coin
{
	uint64		lies;
	int			choices;
} Coin;

extern Coin coin_for(double epsilon, int parts, int choices);
extern int	toss(const Coin *coin, int truth);
extern double truth_probability(const Coin *coin);
extern double other_probability(const Coin *coin);

/* The distinct values of an array, each findable. */
typedef struct Domain
{
	int			size;
	char	  **values;
	int		   *lengths;
	int		   *slots;			/* hash table of places, -1 where empty */
	uint32		mask;
	ArrayType  *array;
	MemoryContext context;		/* that holds all of it */
	uint16	  **hashes;			/* of a sketch: by block of hashes, sixteen for each value; filled when met */
	uint16	   *unkept;			/* those of one block, where all would be too many */
} Domain;

extern Domain *make_domain(ArrayType *array, int least);
extern Domain *domain_of_call(FunctionCallInfo fcinfo, int argument, bool constant, int least);
extern int	find_in_domain(const Domain *domain, const char *value, int length);
extern void sketch_hashes(int block, const char *value, int length, uint16 hashes[HASHES_PER_DIGEST]);

#endif
