/*
 * sealed_values.c: a value as bytes, sealed and unsealed.
 *
 * randomised   1, number of the data key, nonce, AES-256-GCM of the value, tag. What is authenticated beside the value: the id of
 *              the table, the number of the column, the id of the row, the kind of the value. So a value that is moved elsewhere,
 *              or read as another type, is an error. 30 bytes beside the value's own.
 * searchable   2, number of the data key, tag, AES-256-SIV of a mark of the type and the value. Equal values are equal
 *              everywhere under one named key, so they compare, join, and can be moved. 19 bytes beside the value's own.
 *
 * Bytes do not depend on the machine, and hold no numbers of objects, so that ciphertext outlives dump and restore.
 */
#include "sealed.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(discreet_seal);
PG_FUNCTION_INFO_V1(discreet_unseal);
PG_FUNCTION_INFO_V1(discreet_seal_search);
PG_FUNCTION_INFO_V1(discreet_seal_search_many);
PG_FUNCTION_INFO_V1(discreet_is_unsealed);
PG_FUNCTION_INFO_V1(discreet_sealed_row);
PG_FUNCTION_INFO_V1(discreet_sealed_version);
PG_FUNCTION_INFO_V1(discreet_seals_type);

#define ABOUT_BYTES (sizeof(pg_uuid_t) + 4 + 8 + 1)
static const uint8 search_about[] = {'d', 'i', 's', 'c', 'r', 'e', 'e', 't', 1};

/* ---- a value as bytes */

typedef enum Form
{
	FORM_INTEGER, FORM_FLOAT, FORM_BOOLEAN, FORM_UUID, FORM_NUMERIC, FORM_BYTES, FORM_SENT, FORM_NONE
} Form;

typedef struct Codec
{
	Oid			type;			/* below all domains */
	int			width;
	Form		form;
	char		kind;			/* types that read each other's bytes have the same: numeric would trust those of a text */
	bool		compares;		/* equal values have equal bytes, so that they can be searched */
	FmgrInfo	send;
	FmgrInfo	receive;
	Oid			parameter;
	int32		typmod;
} Codec;

/* Whether the binary form of a type names no object of the database. */
static bool
is_portable(Oid type)
{
	char		kind = get_typtype(type);
	Oid			element = get_element_type(type);

	switch (OidIsValid(element) ? element : type)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
			return false;
		default:
			break;
	}
	if (kind == TYPTYPE_ENUM)
		return true;
	if (OidIsValid(element))
		return element < FirstNormalObjectId && get_typtype(element) == TYPTYPE_BASE;
	return kind == TYPTYPE_BASE || (kind == TYPTYPE_RANGE && type < FirstNormalObjectId);
}

static void
fit_codec(Codec *codec, Oid type, int32 typmod)
{
	codec->type = getBaseTypeAndTypmod(type, &typmod);
	codec->typmod = typmod;
	codec->compares = true;
	switch (codec->type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			codec->form = FORM_INTEGER;
			codec->width = codec->type == INT2OID ? 2 : codec->type == INT4OID ? 4 : 8;
			codec->kind = 'i';
			break;
		case DATEOID:
			codec->form = FORM_INTEGER;
			codec->width = 4;
			codec->kind = 'd';
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
			codec->form = FORM_INTEGER;
			codec->width = 8;
			codec->kind = codec->type == TIMESTAMPOID ? 'p' : codec->type == TIMESTAMPTZOID ? 'z' : 'm';
			break;
		case FLOAT4OID:
		case FLOAT8OID:
			codec->form = FORM_FLOAT;
			codec->width = codec->type == FLOAT4OID ? 4 : 8;
			codec->compares = false;
			codec->kind = 'f';
			break;
		case BOOLOID:
			codec->form = FORM_BOOLEAN;
			codec->kind = 'b';
			break;
		case UUIDOID:
			codec->form = FORM_UUID;
			codec->kind = 'u';
			break;
		case NUMERICOID:
			codec->form = FORM_NUMERIC;
			/* of other scales, equal numbers have several spellings */
			codec->compares = codec->typmod >= (int32) VARHDRSZ;
			codec->kind = 'n';
			break;
		case TEXTOID:
		case VARCHAROID:
			codec->form = FORM_BYTES;
			codec->kind = 't';
			break;
		case BYTEAOID:
			codec->form = FORM_BYTES;
			codec->kind = 'y';
			break;
		case BPCHAROID:
		case JSONOID:
			codec->form = FORM_BYTES;
			codec->compares = false;
			codec->kind = codec->type == JSONOID ? 'j' : 'c';
			break;
		default:
			if (is_portable(codec->type))
			{
				Oid			function;
				bool		varies;

				codec->form = FORM_SENT;
				codec->compares = get_typtype(codec->type) == TYPTYPE_ENUM;
				codec->kind = codec->compares ? 'e' : 's';
				getTypeBinaryOutputInfo(codec->type, &function, &varies);
				fmgr_info_cxt(function, &codec->send, TopMemoryContext);
				getTypeBinaryInputInfo(codec->type, &function, &codec->parameter);
				fmgr_info_cxt(function, &codec->receive, TopMemoryContext);
			}
			else
				codec->form = FORM_NONE;
	}
	if (codec->form == FORM_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s cannot be sealed", format_type_be(type)),
				 errhint("Their binary form names objects of this database. Store them as text or jsonb.")));
}

static int64
integer_of(const Codec *codec, Datum value)
{
	return codec->width == 2 ? DatumGetInt16(value) : codec->width == 4 ? DatumGetInt32(value) : DatumGetInt64(value);
}

static Datum
integer_datum(const Codec *codec, int64 number)
{
	return codec->width == 2 ? Int16GetDatum(number) : codec->width == 4 ? Int32GetDatum(number) : Int64GetDatum(number);
}

/* Words of a numeric as the least machines have them; on all others, and on big-endian ones back, they are turned. */
static void
turn_words(uint8 *bytes, int length)
{
#ifdef WORDS_BIGENDIAN
	for (int n = 0; n + 1 < length; n += 2)
	{
		uint8		first = bytes[n];

		bytes[n] = bytes[n + 1];
		bytes[n + 1] = first;
	}
#endif
}

/* The bytes of a value; `room` has 8. */
static const uint8 *
bytes_of(Codec *codec, Datum value, uint8 *room, int *length)
{
	switch (codec->form)
	{
		case FORM_INTEGER:
			{
				uint64		number = pg_hton64((uint64) integer_of(codec, value));

				memcpy(room, &number, 8);
				*length = 8;
				return room;
			}
		case FORM_FLOAT:
			{
				double		number = codec->width == 4 ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
				uint64		bits;

				memcpy(&bits, &number, 8);
				bits = pg_hton64(bits);
				memcpy(room, &bits, 8);
				*length = 8;
				return room;
			}
		case FORM_BOOLEAN:
			room[0] = DatumGetBool(value);
			*length = 1;
			return room;
		case FORM_UUID:
			*length = UUID_LEN;
			return DatumGetUUIDP(value)->data;
		case FORM_NUMERIC:
			{
				struct varlena *number = PG_DETOAST_DATUM_PACKED(value);
				uint8	   *bytes = (uint8 *) VARDATA_ANY(number);

				*length = VARSIZE_ANY_EXHDR(number);
#ifdef WORDS_BIGENDIAN
				bytes = memcpy(palloc(*length), bytes, *length);
#endif
				turn_words(bytes, *length);
				return bytes;
			}
		case FORM_SENT:
			{
				bytea	   *sent = SendFunctionCall(&codec->send, value);

				*length = VARSIZE(sent) - VARHDRSZ;
				return (uint8 *) VARDATA(sent);
			}
		default:
			{
				struct varlena *text = PG_DETOAST_DATUM_PACKED(value);

				*length = VARSIZE_ANY_EXHDR(text);
				return (uint8 *) VARDATA_ANY(text);
			}
	}
}

static Datum
value_of_bytes(Codec *codec, struct varlena *around, int length)
{
	uint8	   *bytes = (uint8 *) VARDATA(around);

	switch (codec->form)
	{
		case FORM_INTEGER:
		case FORM_FLOAT:
			{
				uint64		bits;
				double		number;

				if (length != 8)
					break;
				memcpy(&bits, bytes, 8);
				bits = pg_ntoh64(bits);
				if (codec->form == FORM_INTEGER)
					return integer_datum(codec, (int64) bits);
				memcpy(&number, &bits, 8);
				return codec->width == 4 ? Float4GetDatum((float) number) : Float8GetDatum(number);
			}
		case FORM_BOOLEAN:
			if (length != 1)
				break;
			return BoolGetDatum(bytes[0] != 0);
		case FORM_UUID:
			if (length != UUID_LEN)
				break;
			return UUIDPGetDatum((pg_uuid_t *) bytes);
		case FORM_SENT:
			{
				StringInfoData sent;

				initStringInfo(&sent);
				appendBinaryStringInfo(&sent, (char *) bytes, length);
				return ReceiveFunctionCall(&codec->receive, &sent, codec->parameter, codec->typmod);
			}
		default:
			if (codec->form == FORM_NUMERIC)
				turn_words(bytes, length);
			SET_VARSIZE(around, VARHDRSZ + length);
			return PointerGetDatum(around);
	}
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a sealed value is of another type than its column")));
}

/* ---- call sites */

typedef struct Site
{
	uint64		version;		/* of what may change who can read what */
	bool		open;
	SealedColumn column;
	Codec		codec;
	DataKey    *key;			/* that was used last */
	uint8		about[ABOUT_BYTES];
} Site;

static void
begin_site(FunctionCallInfo fcinfo, Site *site, pg_uuid_t *id, Oid type, int32 typmod)
{
	const SealedColumn *column = sealed_column(id);
	uint32		number;

	if (column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("discreet knows of no such sealed column"),
				 errhint("It is a row of discreet._sealed_column, which is in every dump of the database.")));
	site->column = *column;
	site->key = NULL;
	fit_codec(&site->codec, type, typmod);
	number = pg_hton32((uint32) column->number);
	memcpy(site->about, &column->table, sizeof(pg_uuid_t));
	memcpy(site->about + sizeof(pg_uuid_t), &number, 4);
	site->about[ABOUT_BYTES - 1] = site->codec.kind;
	site->open = key_is_open(&column->key_id);
	/* last: to look at rights may have changed it */
	site->version = keys_changed;
}

/* The site of a call; it looks anew at what is open when something may have changed. */
static inline Site *
site_of(FunctionCallInfo fcinfo, int id_argument, Oid (*type) (FunctionCallInfo), int32 (*typmod) (FunctionCallInfo))
{
	Site	   *site = fcinfo->flinfo->fn_extra;

	if (unlikely(site == NULL))
		site = fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site));
	else if (likely(site->version == keys_changed))
		return site;
	if (PG_ARGISNULL(id_argument))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the id of a sealed column is NULL")));
	begin_site(fcinfo, site, PG_GETARG_UUID_P(id_argument), type(fcinfo), typmod(fcinfo));
	return site;
}

pg_noreturn static void
refuse_writing(const SealedColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("column \"%s\" is sealed under key \"%s\", which is not open", NameStr(column->name),
					NameStr(column->key)),
			 errhint("SELECT discreet.open_key('%s', …) before writing the column.", NameStr(column->key))));
}

static DataKey *
key_of_site(Site *site, int version)
{
	if (unlikely(site->key == NULL || site->key->version != version))
		site->key = find_data_key(&site->column, version);
	return site->key;
}

/* The key for a value that is written: it may be lost since the site looked, with the role. */
static DataKey *
key_to_write(Site *site)
{
	DataKey    *key = key_of_site(site, site->column.version);

	if (key == NULL)
		refuse_writing(&site->column);
	return key;
}

static inline void
about_row(Site *site, int64 row)
{
	uint64		number = pg_hton64((uint64) row);

	memcpy(site->about + sizeof(pg_uuid_t) + 4, &number, 8);
}

static Oid
type_of_value(FunctionCallInfo fcinfo)
{
	return get_fn_expr_argtype(fcinfo->flinfo, 0);
}

static Oid
type_of_elements(FunctionCallInfo fcinfo)
{
	return get_element_type(get_fn_expr_argtype(fcinfo->flinfo, 0));
}

static Oid
type_of_result(FunctionCallInfo fcinfo)
{
	return get_fn_expr_rettype(fcinfo->flinfo);
}

/* The scale of numerics is that of the column: values are searched by their number. */
static int32
any_scale(FunctionCallInfo fcinfo)
{
	return VARHDRSZ;
}

static int32
typmod_of_column(FunctionCallInfo fcinfo)
{
	FuncExpr   *call = (FuncExpr *) fcinfo->flinfo->fn_expr;

	return call != NULL && IsA(call, FuncExpr) && list_length(call->args) == 4 ? exprTypmod(list_nth(call->args, 3)) : -1;
}

/* ---- sealing */

static bytea *
seal_randomised(Site *site, int64 row, Datum value)
{
	uint8		room[8];
	int			length;
	const uint8 *plain = bytes_of(&site->codec, value, room, &length);
	bytea	   *sealed = palloc(VARHDRSZ + HEADER_BYTES + NONCE_BYTES + length + TAG_BYTES);
	uint8	   *to = (uint8 *) VARDATA(sealed);

	SET_VARSIZE(sealed, VARHDRSZ + HEADER_BYTES + NONCE_BYTES + length + TAG_BYTES);
	to[0] = SEALED_RANDOMISED;
	to[1] = site->column.version;
	random_bytes(to + HEADER_BYTES, NONCE_BYTES);
	about_row(site, row);
	encrypt_randomised(key_to_write(site)->cipher, to + HEADER_BYTES, site->about, ABOUT_BYTES,
					   plain, length, to + HEADER_BYTES + NONCE_BYTES, to + HEADER_BYTES + NONCE_BYTES + length);
	return sealed;
}

static bytea *
seal_searchable(Site *site, Datum value)
{
	uint8		room[8];
	int			length;
	const uint8 *bytes;
	uint8	   *plain;
	bytea	   *sealed;
	uint8	   *to;

	if (site->codec.form == FORM_NUMERIC)
		value = DirectFunctionCall1(numeric_trim_scale, value);
	bytes = bytes_of(&site->codec, value, room, &length);
	plain = palloc(1 + length);
	plain[0] = site->codec.kind;
	memcpy(plain + 1, bytes, length);
	sealed = palloc(VARHDRSZ + HEADER_BYTES + TAG_BYTES + 1 + length);
	SET_VARSIZE(sealed, VARHDRSZ + HEADER_BYTES + TAG_BYTES + 1 + length);
	to = (uint8 *) VARDATA(sealed);
	to[0] = SEALED_SEARCHABLE;
	to[1] = site->column.version;
	encrypt_searchable(key_to_write(site)->cipher, search_about, sizeof(search_about), plain, 1 + length,
					   to + HEADER_BYTES + TAG_BYTES, to + HEADER_BYTES);
	pfree(plain);
	return sealed;
}

/* _seal(value anyelement, row_id bigint, column_id uuid) RETURNS bytea */
Datum
discreet_seal(PG_FUNCTION_ARGS)
{
	Site	   *site = site_of(fcinfo, 2, type_of_value, any_scale);

	if (!site->open)
		refuse_writing(&site->column);
	refuse_spills();
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (site->column.searchable)
		PG_RETURN_BYTEA_P(seal_searchable(site, PG_GETARG_DATUM(0)));
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this statement cannot write sealed column \"%s\"", NameStr(site->column.name)),
				 errhint("Write it with INSERT, UPDATE or COPY on its table.")));
	PG_RETURN_BYTEA_P(seal_randomised(site, PG_GETARG_INT64(1), PG_GETARG_DATUM(0)));
}

/* _seal_search(value anyelement, column_id uuid) RETURNS bytea: what a searchable column holds for a value */
Datum
discreet_seal_search(PG_FUNCTION_ARGS)
{
	Site	   *site;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	site = site_of(fcinfo, 1, type_of_value, any_scale);
	if (!site->open || !site->column.searchable)
		PG_RETURN_NULL();
	refuse_spills();
	PG_RETURN_BYTEA_P(seal_searchable(site, PG_GETARG_DATUM(0)));
}

/* _seal_search_many(value anyarray, column_id uuid) RETURNS bytea[] */
Datum
discreet_seal_search_many(PG_FUNCTION_ARGS)
{
	Site	   *site;
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			dimension;
	int			from = 1;
	int16		length;
	bool		by_value;
	char		align;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	site = site_of(fcinfo, 1, type_of_elements, any_scale);
	if (!site->open || !site->column.searchable)
		PG_RETURN_NULL();
	refuse_spills();
	array = PG_GETARG_ARRAYTYPE_P(0);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values, &nulls, &count);
	for (int n = 0; n < count; n++)
		if (!nulls[n])
			values[n] = PointerGetDatum(seal_searchable(site, values[n]));
	dimension = count;
	PG_RETURN_ARRAYTYPE_P(construct_md_array(values, nulls, 1, &dimension, &from, BYTEAOID, -1, false, TYPALIGN_INT));
}

/* ---- unsealing */

pg_noreturn static void
refuse_value(const SealedColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a value of sealed column \"%s\" is damaged, or was sealed for another place", NameStr(column->name)),
			 errdetail("Its ciphertext does not belong to this table, column, row and key."),
			 errhint("Other rows and columns can be read. Restore this value from a backup.")));
}

/* _unseal(sealed bytea, row_id bigint, column_id uuid, like anyelement) RETURNS anyelement */
Datum
discreet_unseal(PG_FUNCTION_ARGS)
{
	Site	   *site;
	bytea	   *sealed;
	const uint8 *from;
	DataKey    *key;
	struct varlena *plain;
	Datum		value;
	int			length;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	site = site_of(fcinfo, 2, type_of_result, typmod_of_column);
	if (!site->open)
		PG_RETURN_NULL();
	refuse_spills();
	sealed = PG_GETARG_BYTEA_PP(0);
	from = (uint8 *) VARDATA_ANY(sealed);
	length = VARSIZE_ANY_EXHDR(sealed) - HEADER_BYTES - TAG_BYTES - (site->column.searchable ? 1 : NONCE_BYTES);
	if (length < 0 || PG_ARGISNULL(1) || from[0] != (site->column.searchable ? SEALED_SEARCHABLE : SEALED_RANDOMISED))
		refuse_value(&site->column);
	key = key_of_site(site, from[1]);
	if (key == NULL)
		PG_RETURN_NULL();
	from += HEADER_BYTES;
	if (!site->column.searchable)
	{
		plain = palloc(VARHDRSZ + length);
		about_row(site, PG_GETARG_INT64(1));
		if (!decrypt_randomised(key->cipher, from, site->about, ABOUT_BYTES, from + NONCE_BYTES, length,
								from + NONCE_BYTES + length, (uint8 *) VARDATA(plain)))
			refuse_value(&site->column);
		PG_RETURN_DATUM(value_of_bytes(&site->codec, plain, length));
	}
	plain = palloc(VARHDRSZ + 1 + length);
	if (!decrypt_searchable(key->cipher, search_about, sizeof(search_about), from + TAG_BYTES, 1 + length, from,
							(uint8 *) VARDATA(plain)) || VARDATA(plain)[0] != site->codec.kind)
		refuse_value(&site->column);
	memmove(VARDATA(plain), VARDATA(plain) + 1, length);
	value = value_of_bytes(&site->codec, plain, length);
	if (site->codec.form == FORM_NUMERIC)
		value = DirectFunctionCall2(numeric, value, Int32GetDatum(site->codec.typmod));
	PG_RETURN_DATUM(value);
}

/* _is_unsealed(column_id uuid) RETURNS boolean: whether the session can read the column */
Datum
discreet_is_unsealed(PG_FUNCTION_ARGS)
{
	const SealedColumn *column = sealed_column(PG_GETARG_UUID_P(0));

	PG_RETURN_BOOL(column != NULL && key_is_open(&column->key_id));
}

/* _sealed_row() RETURNS bigint: the id of a new row */
Datum
discreet_sealed_row(PG_FUNCTION_ARGS)
{
	int64		id;

	random_bytes((uint8 *) &id, sizeof(id));
	PG_RETURN_INT64(id);
}

/* _sealed_version(sealed bytea) RETURNS int: the number of its data key */
Datum
discreet_sealed_version(PG_FUNCTION_ARGS)
{
	bytea	   *sealed = PG_GETARG_BYTEA_PP(0);

	if (VARSIZE_ANY_EXHDR(sealed) < HEADER_BYTES)
		PG_RETURN_NULL();
	PG_RETURN_INT32(((uint8 *) VARDATA_ANY(sealed))[1]);
}

/* _seals_type(type regtype, typmod int) RETURNS boolean: whether values can be searched; an error when they cannot be sealed */
Datum
discreet_seals_type(PG_FUNCTION_ARGS)
{
	Codec		codec;

	fit_codec(&codec, PG_GETARG_OID(0), PG_GETARG_INT32(1));
	PG_RETURN_BOOL(codec.compares);
}
