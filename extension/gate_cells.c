/*
 * gate_cells.c: what persons have in groups, in memory and, beyond it, in a temporary file (gate_cells.h).
 */
#include "gate_cells.h"

#include "common/hashfn.h"
#include "common/int.h"
#include "discreet.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

/* the first partition alone holds this many blocks, which fit into a cache, before cells are split */
#define BLOCKS_BEFORE_SPLIT 16
/* each partition has a block that is being filled; below that much memory nothing can be done */
#define LEAST_MEMORY ((Size) 2 * PARTITIONS * BLOCK_BYTES)
#define WORDS_OF_BLOCK (BLOCK_BYTES / sizeof(uint64))

static void make_room(Cells *cells);

void
begin_cells(Cells *cells, MemoryContext beside, const char *kinds, int subjects, bool by_word, int64 seed, bool may_spill)
{
	CellShape  *shape = &cells->shape;
	int			at = MAXALIGN(offsetof(Cell, counts) + sizeof(uint32) * subjects);

	memset(cells, 0, sizeof(Cells));
	shape->subjects = subjects;
	shape->by_word = by_word;
	memcpy(shape->kinds, kinds, subjects);
	for (int s = 0; s < subjects; s++)
	{
		if (kinds[s] == 'R')
			continue;
		shape->sums[s] = at;
		at += sizeof(int64);
		if (kinds[s] != 'Q')
			continue;
		shape->squares[s] = at;
		at += sizeof(int128);
	}
	shape->size = at;
	cells->beside = beside;
	cells->context = AllocSetContextCreate(beside, "cells", ALLOCSET_DEFAULT_SIZES);
	cells->may_spill = may_spill;
	cells->merging_helps = true;
	/* of all processes the same: what a worker has hashed, the leader need not hash again */
	for (int n = 0; n < lengthof(cells->secret); n++)
		cells->secret[n] = hash_bytes_extended((const unsigned char *) &seed, sizeof(seed), n + 1);
}

/* Not after an error: then the file is gone already. */
void
end_cells(Cells *cells)
{
	if (cells->file != NULL)
		BufFileClose(cells->file);
	cells->file = NULL;
}

uint64
hash_of_bytes(const Cells *cells, Span span)
{
	return hash_bytes_extended((const unsigned char *) span.data, span.length, cells->secret[0]);
}

static inline bool
is_full(const Cells *cells)
{
	Size		limit = (Size) people_memory * 1024;
	Size		beside = MemoryContextMemAllocated(cells->beside, false);

	return (cells->blocks + 1) * sizeof(CellBlock) > Max(LEAST_MEMORY, limit - Min(limit, beside));
}

static void
append_block(Cells *cells, Partition *partition)
{
	if (partition->number == partition->room)
	{
		uint32		room = Max(2 * partition->room, 4);
		CellBlock	  **longer = MemoryContextAllocHuge(cells->context, sizeof(CellBlock *) * room);

		if (room > PG_UINT32_MAX / WORDS_OF_BLOCK)
			leave_to_sql("too many people and groups");
		if (partition->number > 0)
		{
			memcpy(longer, partition->blocks, sizeof(CellBlock *) * partition->number);
			pfree(partition->blocks);
		}
		partition->blocks = longer;
		partition->room = room;
	}
	partition->last = MemoryContextAlloc(cells->context, sizeof(CellBlock));
	partition->last->used = 0;
	partition->last->unused = 0;
	partition->blocks[partition->number++] = partition->last;
	cells->blocks++;
}

static void
keep_blocks(Cells *cells, Partition *partition, uint32 number)
{
	for (uint32 n = number; n < partition->number; n++)
	{
		pfree(partition->blocks[n]);
		cells->blocks--;
	}
	partition->number = number;
	partition->last = number == 0 ? NULL : partition->blocks[number - 1];
}

void
free_partition(Cells *cells, Partition *partition)
{
	keep_blocks(cells, partition, 0);
}

/* Adds `theirs` to a cell of the same person and group. */
static inline void
add_to_cell(const Cells *cells, Cell *ours, const Cell *theirs)
{
	const CellShape *shape = &cells->shape;
	bool		overflow = false;

	for (int s = 0; s < shape->subjects; s++)
	{
		overflow |= __builtin_add_overflow(ours->counts[s], theirs->counts[s], &ours->counts[s]);
		if (shape->sums[s] != 0)
			overflow |= pg_add_s64_overflow(*sum_of(cells, ours, s), *sum_of(cells, theirs, s), sum_of(cells, ours, s));
		if (shape->squares[s] != 0)
		{
			int128		squares;

			overflow |= __builtin_add_overflow(squares_of(cells, ours, s), squares_of(cells, theirs, s), &squares);
			set_squares(cells, ours, s, squares);
		}
	}
	if (unlikely(overflow))
		leave_to_sql("a sum of one person is beyond its integers");
}

/* All slots free, at least two for each cell that is to come. */
static uint32
free_slots(Cells *cells, Size number)
{
	Size		slots = 64;

	while (slots < 2 * number)
		slots *= 2;
	if (slots > PG_UINT32_MAX / 2)
		leave_to_sql("too many people and groups");
	if (slots > cells->slots_room)
	{
		if (cells->slots != NULL)
			pfree(cells->slots);
		cells->slots = MemoryContextAllocHuge(cells->context, sizeof(uint32) * slots);
		cells->slots_room = slots;
	}
	memset(cells->slots, 0, sizeof(uint32) * slots);
	return slots - 1;
}

static inline Cell *
cell_in_slot(const Partition *partition, uint32 slot)
{
	return (Cell *) (partition->blocks[(slot - 1) / WORDS_OF_BLOCK]->data +
					 (slot - 1) % WORDS_OF_BLOCK * sizeof(uint64));
}

/* Makes one cell of all that have the same person and group. Cells only move towards the beginning. */
static void
merge_partition(Cells *cells, Partition *partition)
{
	Size		bytes = 0;
	uint32		mask;
	uint32		to = 0;
	uint32		filled = 0;

	for (uint32 n = 0; n < partition->number; n++)
		bytes += partition->blocks[n]->used;
	if (bytes == 0)
		return;
	mask = free_slots(cells, bytes / cells->shape.size);
	for (uint32 n = 0; n < partition->number; n++)
	{
		CellBlock	   *block = partition->blocks[n];
		uint32		used = block->used;
		uint32		size;

		CHECK_FOR_INTERRUPTS();
		for (uint32 at = 0; at < used; at += size)
		{
			Cell	   *cell = (Cell *) (block->data + at);
			uint64		hash = folded(hash_of_person(cells, cell->word) ^ cell->group, cells->secret[0] | 1);
			uint32		slot = (uint32) (hash >> 16) & mask;

			size = size_of_cell(cells, cell);
			while (cells->slots[slot] != 0)
			{
				Cell	   *other = cell_in_slot(partition, cells->slots[slot]);

				if (other->group == cell->group && same_person(cells, other, cell))
				{
					add_to_cell(cells, other, cell);
					break;
				}
				slot = (slot + 1) & mask;
			}
			if (cells->slots[slot] != 0)
				continue;
			if (filled + size > sizeof(block->data))
			{
				partition->blocks[to++]->used = filled;
				filled = 0;
			}
			if (partition->blocks[to]->data + filled != (char *) cell)
				memmove(partition->blocks[to]->data + filled, cell, size);
			cells->slots[slot] = to * WORDS_OF_BLOCK + filled / sizeof(uint64) + 1;
			filled += size;
		}
	}
	partition->blocks[to]->used = filled;
	keep_blocks(cells, partition, to + 1);
}

static void
write_blocks(Cells *cells, Partition *partition)
{
	for (uint32 n = 0; n < partition->number; n++)
	{
		CellBlock	   *block = partition->blocks[n];
		int			file;
		off_t		offset;

		CHECK_FOR_INTERRUPTS();
		if (partition->written_number == partition->written_room)
		{
			uint32		room = Max(2 * partition->written_room, 16);
			uint64	   *longer = MemoryContextAllocHuge(cells->context, sizeof(uint64) * room);

			if (partition->written_number > 0)
			{
				memcpy(longer, partition->written, sizeof(uint64) * partition->written_number);
				pfree(partition->written);
			}
			partition->written = longer;
			partition->written_room = room;
		}
		BufFileTell(cells->file, &file, &offset);
		partition->written[partition->written_number++] = (uint64) file << 32 | (uint64) offset;
		BufFileWrite(cells->file, block, offsetof(CellBlock, data) + block->used);
	}
	keep_blocks(cells, partition, 0);
}

/* Writes all cells. What is sealed does not go to a file: then temporary files have no room (sealed_spills.c). */
static void
spill(Cells *cells)
{
	if (!cells->may_spill || temp_file_limit == 0)
		leave_to_sql("it takes more memory than discreet.people_memory");
	if (!cells->split)
		split_cells(cells);
	if (!cells->split)
		split_cells(cells);
	if (cells->file == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(cells->context);

		cells->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(caller);
	}
	for (int n = 0; n < PARTITIONS; n++)
		write_blocks(cells, &cells->partitions[n]);
}

/* After the last cell: if some are written, all are, so that there is memory for one partition after another. */
void
spill_rest(Cells *cells)
{
	if (cells->file != NULL)
		spill(cells);
}

/* Spreads cells over all partitions. */
void
split_cells(Cells *cells)
{
	Partition	whole = cells->partitions[0];

	cells->split = true;
	memset(&cells->partitions[0], 0, sizeof(Partition));
	for (uint32 n = 0; n < whole.number; n++)
	{
		const CellBlock *block = whole.blocks[n];
		uint32		size;

		for (uint32 at = 0; at < block->used; at += size)
		{
			const Cell *cell = (const Cell *) (block->data + at);

			size = size_of_cell(cells, cell);
			memcpy(place_for_cell(cells, cell->word, size), cell, size);
		}
	}
	keep_blocks(cells, &whole, 0);
	if (whole.blocks != NULL)
		pfree(whole.blocks);
}

/* Memory is full: merges all cells, or writes them if that has not freed half of it. */
static void
make_room(Cells *cells)
{
	if (cells->merging_helps)
	{
		Size		before = cells->blocks;

		for (int n = 0; n < PARTITIONS; n++)
			merge_partition(cells, &cells->partitions[n]);
		cells->merging_helps = cells->blocks <= before - before / 4;
		if (cells->blocks <= before / 2 && !is_full(cells))
			return;
	}
	spill(cells);
}

/* Another block for a partition, which may be another one afterwards (place_for_cell). */
void
add_block(Cells *cells, Partition *partition)
{
	CHECK_FOR_INTERRUPTS();
	if (!cells->split && partition->number == BLOCKS_BEFORE_SPLIT)
	{
		merge_partition(cells, partition);
		if (partition->number <= BLOCKS_BEFORE_SPLIT / 2)
			return;
		split_cells(cells);
		return;
	}
	if (is_full(cells))
		make_room(cells);
	append_block(cells, partition);
}

/* Merges where a first partition shows that less is to be sent then. */
void
merge_before_sending(Cells *cells)
{
	for (int n = 0; n < PARTITIONS; n++)
	{
		Partition  *partition = &cells->partitions[n];
		uint32		before = partition->number;

		if (before == 0)
			continue;
		merge_partition(cells, partition);
		if (partition->number > before - before / 4)
			return;
	}
}

/* Has all cells of a partition in memory, one for each person and group. */
void
gather_partition(Cells *cells, Partition *partition)
{
	for (uint32 n = 0; n < partition->written_number; n++)
	{
		uint32		used;

		CHECK_FOR_INTERRUPTS();
		if (is_full(cells))
		{
			Size		before = cells->blocks;

			merge_partition(cells, partition);
			if (cells->blocks > before / 2)
				leave_to_sql("a few people are in too many groups");
		}
		append_block(cells, partition);
		if (BufFileSeek(cells->file, partition->written[n] >> 32, (off_t) (uint32) partition->written[n], SEEK_SET) != 0)
			ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in a temporary file: %m")));
		if (BufFileRead(cells->file, partition->last, offsetof(CellBlock, data)) != offsetof(CellBlock, data) ||
			(used = partition->last->used) > sizeof(partition->last->data) ||
			BufFileRead(cells->file, partition->last->data, used) != used)
			ereport(ERROR, (errcode_for_file_access(), errmsg("could not read a temporary file")));
	}
	merge_partition(cells, partition);
}

/*
 * The cells of a merged partition, person by person; ends[n] is behind the last of the n-th. Both are gone with the next
 * partition.
 */
uint32
cells_by_person(Cells *cells, const Partition *partition, const Cell ***of_people, const uint32 **ends)
{
	Size		most = 0;
	uint32		number = 0;
	uint32		people = 0;
	uint32		before = 0;
	uint32		mask;
	const Cell **all;
	const Cell **sorted;
	const Cell **first;			/* of each person */
	uint32	   *person;			/* of each cell */
	uint32	   *until;

	if (cells->ordering == NULL)
		cells->ordering = AllocSetContextCreate(cells->context, "people of a partition", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(cells->ordering);
	for (uint32 n = 0; n < partition->number; n++)
		most += partition->blocks[n]->used / cells->shape.size;
	mask = free_slots(cells, most);
	all = MemoryContextAllocHuge(cells->ordering, sizeof(Cell *) * (most + 1));
	sorted = MemoryContextAllocHuge(cells->ordering, sizeof(Cell *) * (most + 1));
	first = MemoryContextAllocHuge(cells->ordering, sizeof(Cell *) * (most + 1));
	person = MemoryContextAllocHuge(cells->ordering, sizeof(uint32) * (most + 1));
	until = MemoryContextAllocHuge(cells->ordering, sizeof(uint32) * (most + 1));
	for (uint32 n = 0; n < partition->number; n++)
	{
		const CellBlock *block = partition->blocks[n];

		CHECK_FOR_INTERRUPTS();
		for (uint32 at = 0; at < block->used; at += size_of_cell(cells, all[number - 1]))
		{
			const Cell *cell = (const Cell *) (block->data + at);
			uint32		slot = (uint32) (hash_of_person(cells, cell->word) >> 16) & mask;

			while (cells->slots[slot] != 0 && !same_person(cells, first[cells->slots[slot] - 1], cell))
				slot = (slot + 1) & mask;
			if (cells->slots[slot] == 0)
			{
				first[people] = cell;
				until[people] = 0;
				cells->slots[slot] = ++people;
			}
			all[number] = cell;
			person[number++] = cells->slots[slot] - 1;
			until[cells->slots[slot] - 1]++;
		}
	}
	for (uint32 n = 0; n < people; n++)
	{
		uint32		of_person = until[n];

		until[n] = before;
		before += of_person;
	}
	for (uint32 n = 0; n < number; n++)
		sorted[until[person[n]]++] = all[n];
	*of_people = sorted;
	*ends = until;
	return people;
}
