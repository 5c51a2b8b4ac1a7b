/*
 * gate_cells.h: what persons have in groups, in memory and, beyond it, in a temporary file.
 *
 * A cell is what a person has in a group. Cells are spread over partitions by a keyed hash of their person: all cells of a
 * person are in one partition, and a partition fits into a processor's cache. A cell may be in its partition several times
 * until the partition is merged. When memory is full, partitions are merged; if that gives no room, they are written to
 * one temporary file, and read back partition by partition.
 */
#ifndef GATE_CELLS_H
#define GATE_CELLS_H

#include "numbering.h"

#include "storage/buffile.h"

#define PARTITION_BITS 8
#define PARTITIONS (1 << PARTITION_BITS)
#define BLOCK_BYTES (16 * 1024)
#define LONGEST_PERSON (8 * 1024)

/* What a cell holds of each subject, by its kind: R count; S count, sum; Q count, sum, sum of squares of 128 bits. */
typedef struct CellShape
{
	int			subjects;
	char		kinds[FUNC_MAX_ARGS];
	int			sums[FUNC_MAX_ARGS];	/* where in a cell; 0 for none */
	int			squares[FUNC_MAX_ARGS];
	int			size;			/* of a cell, without the bytes of its person */
	bool		by_word;		/* a person is a word; otherwise bytes, which are at the end of the cell */
} CellShape;

typedef struct Cell
{
	uint64		word;			/* the person, or a keyed hash of its bytes */
	uint32		group;
	uint32		counts[FLEXIBLE_ARRAY_MEMBER];
} Cell;

typedef struct CellBlock
{
	uint32		used;
	uint32		unused;
	char		data[BLOCK_BYTES - 2 * sizeof(uint32)];
} CellBlock;

typedef struct Partition
{
	CellBlock	   *last;
	CellBlock	  **blocks;
	uint32		number;			/* of blocks */
	uint32		room;
	uint64	   *written;		/* where blocks are in the file */
	uint32		written_number;
	uint32		written_room;
} Partition;

typedef struct Cells
{
	CellShape	shape;
	MemoryContext context;
	MemoryContext beside;		/* what the question keeps beside cells; counts against the same limit */
	uint64		secret[2];
	bool		may_spill;
	bool		split;			/* all cells are in the first partition until there are many */
	bool		merging_helps;
	Size		blocks;			/* in memory */
	Partition	partitions[PARTITIONS];
	BufFile    *file;
	uint32	   *slots;			/* of a merge */
	Size		slots_room;
	MemoryContext ordering;		/* of one partition */
} Cells;

extern void begin_cells(Cells *cells, MemoryContext beside, const char *kinds, int subjects, bool by_word, int64 seed,
						bool may_spill);
extern void end_cells(Cells *cells);
extern void add_block(Cells *cells, Partition *partition);
extern void split_cells(Cells *cells);
extern void merge_before_sending(Cells *cells);
extern void gather_partition(Cells *cells, Partition *partition);
extern uint32 cells_by_person(Cells *cells, const Partition *partition, const Cell ***of_people, const uint32 **ends);
extern void free_partition(Cells *cells, Partition *partition);
extern void spill_rest(Cells *cells);
extern uint64 hash_of_bytes(const Cells *cells, Span span);

static inline uint64
folded(uint64 a, uint64 b)
{
	uint128		product = (uint128) a * b;

	return (uint64) (product >> 64) ^ (uint64) product;
}

static inline uint64
hash_of_person(const Cells *cells, uint64 word)
{
	return cells->shape.by_word ? folded(word ^ cells->secret[0], cells->secret[1] | 1) : word;
}

/* Of a cell with so many bytes of a person. */
static inline uint32
cell_size(const Cells *cells, uint32 bytes)
{
	return cells->shape.by_word ? cells->shape.size : MAXALIGN(cells->shape.size + sizeof(uint32) + bytes);
}

static inline Span
person_of(const Cells *cells, const Cell *cell)
{
	const char *at = (const char *) cell + cells->shape.size;

	return (Span) {at + sizeof(uint32), (int32) *(const uint32 *) at};
}

static inline uint32
size_of_cell(const Cells *cells, const Cell *cell)
{
	return cells->shape.by_word ? cells->shape.size : cell_size(cells, person_of(cells, cell).length);
}

static inline bool
same_person(const Cells *cells, const Cell *a, const Cell *b)
{
	Span		ours;
	Span		theirs;

	if (a->word != b->word)
		return false;
	if (cells->shape.by_word)
		return true;
	ours = person_of(cells, a);
	theirs = person_of(cells, b);
	return ours.length == theirs.length && memcmp(ours.data, theirs.data, ours.length) == 0;
}

static inline int64 *
sum_of(const Cells *cells, const Cell *cell, int subject)
{
	return (int64 *) ((char *) cell + cells->shape.sums[subject]);
}

/* Cells are aligned for 64 bits only. */
static inline int128
squares_of(const Cells *cells, const Cell *cell, int subject)
{
	int128		squares;

	memcpy(&squares, (const char *) cell + cells->shape.squares[subject], sizeof(squares));
	return squares;
}

static inline void
set_squares(const Cells *cells, Cell *cell, int subject, int128 squares)
{
	memcpy((char *) cell + cells->shape.squares[subject], &squares, sizeof(squares));
}

/* Room for a cell of this person. All of it is to be filled, so that no old memory gets into a file. */
static inline Cell *
place_for_cell(Cells *cells, uint64 word, uint32 size)
{
	Partition  *partition = &cells->partitions[cells->split ? hash_of_person(cells, word) >> (64 - PARTITION_BITS) : 0];
	Cell	   *cell;

	if (unlikely(partition->last == NULL || partition->last->used + size > sizeof(partition->last->data)))
	{
		add_block(cells, partition);
		/* the cells may have been split, which makes another partition the right one, whose block has room or not */
		partition = &cells->partitions[cells->split ? hash_of_person(cells, word) >> (64 - PARTITION_BITS) : 0];
		while (partition->last == NULL || partition->last->used + size > sizeof(partition->last->data))
			add_block(cells, partition);
	}
	cell = (Cell *) (partition->last->data + partition->last->used);
	partition->last->used += size;
	cell->word = word;
	return cell;
}

#endif
