/*
 * sealed.h: columns that are stored encrypted.
 *
 *   sealed_memory.c      memory for keys: locked, left out of core files, wiped
 *   sealed_cipher.c      OpenSSL: AES-256-GCM, AES-256-SIV, scrypt
 *   sealed_keys.c        named keys that the session has opened, and the data keys below them
 *   sealed_secrets.c     create_key, open_key, close_key, rotate_key
 *   sealed_server.c      keys that the server holds, for questions of the gate
 *   sealed_columns.c     which columns are sealed, as the catalog of discreet knows
 *   sealed_values.c      a value as bytes, sealed and unsealed
 *   sealed_statements.c  statements on a sealed table become statements on what holds its rows
 *   sealed_plans.c       equality by ciphertext, ids of new rows
 *   sealed_spills.c      no unsealed value goes to a temporary file
 *   sealed_log.c         secrets stay out of the server's log
 */
#ifndef SEALED_H
#define SEALED_H

#include "discreet.h"

#include "nodes/primnodes.h"
#include "utils/uuid.h"

#define SEAL_KEY_BYTES 32		/* AES-256-GCM, and named keys */
#define SEARCH_KEY_BYTES 64		/* AES-256-SIV takes two */
#define NONCE_BYTES 12
#define TAG_BYTES 16
#define SALT_BYTES 16
#define LONGEST_SECRET 1024
/* what is sealed begins with how it was sealed, and with the number of its data key */
#define SEALED_RANDOMISED 1
#define SEALED_SEARCHABLE 2
#define HEADER_BYTES 2

#pragma GCC visibility push(hidden)

/* sealed_memory.c */
extern uint8 *key_memory(void);
extern void keep_key_memory(uint8 *place);
extern void free_key_memory(uint8 *place);
extern void wipe(void *place, Size length);

/* sealed_cipher.c */
typedef struct Cipher Cipher;

typedef struct Derivation
{
	bool		whole;			/* the secret is the key */
	uint8		salt[SALT_BYTES];
	int			cost;			/* scrypt: binary logarithm of N */
	int			block;			/* r */
	int			lanes;			/* p */
} Derivation;

extern Cipher *make_cipher(const uint8 *key, bool searchable);
extern void free_cipher(Cipher *cipher);
extern void encrypt_randomised(Cipher *cipher, const uint8 *nonce, const uint8 *about, int about_length,
							   const uint8 *plain, int length, uint8 *sealed, uint8 *tag);
extern bool decrypt_randomised(Cipher *cipher, const uint8 *nonce, const uint8 *about, int about_length,
							   const uint8 *sealed, int length, const uint8 *tag, uint8 *plain);
extern void encrypt_searchable(Cipher *cipher, const uint8 *about, int about_length, const uint8 *plain, int length,
							   uint8 *sealed, uint8 *tag);
extern bool decrypt_searchable(Cipher *cipher, const uint8 *about, int about_length, const uint8 *sealed, int length,
							   const uint8 *tag, uint8 *plain);
extern void derive_key(const Derivation *how, const uint8 *secret, int length, uint8 *key);
extern void random_bytes(uint8 *to, int length);

/* sealed_columns.c */
typedef struct SealedColumn
{
	pg_uuid_t	id;
	Oid			view;
	Oid			base;
	pg_uuid_t	table;
	int32		number;
	NameData	name;
	NameData	key;
	pg_uuid_t	key_id;
	bool		searchable;
	int			version;		/* of the data key under which new values are sealed */
} SealedColumn;

extern bool sealed_columns_exist(void);
extern const SealedColumn *sealed_column(const pg_uuid_t *id);
extern const SealedColumn *sealed_column_of(Oid view, const char *name);
extern bool is_sealed_view(Oid relation);
extern bool is_sealed_base(Oid relation);
extern Oid	sealed_base_of(Oid view);
extern Oid	sealed_view_of(Oid base);
extern List *sealed_columns_of_base(Oid base);
extern Oid	unseal_function(void);
extern Oid	seal_function(void);
extern Oid	search_function(void);
extern Oid	search_many_function(void);
extern Oid	is_open_function(void);
extern Oid	row_function(void);

/* sealed_keys.c */
typedef struct DataKey
{
	pg_uuid_t	owner;			/* a column; for searchable ones, the named key */
	int			version;
	bool		searchable;
	pg_uuid_t	key;
	uint8	   *bytes;
	Cipher	   *cipher;
} DataKey;

extern uint64 keys_changed;		/* counts what may change who can read what */
extern bool key_is_open(const pg_uuid_t *key);
extern DataKey *find_data_key(const SealedColumn *column, int version);
extern void hold_key(const char *name, const pg_uuid_t *id, const uint8 *bytes);
extern bool drop_key(const char *name);
extern void drop_all_keys(void);
extern void drop_server_keys(void);
extern void drop_keys_of_others(void);
extern void look_at_keys(void);
extern void look_at_rights_again(void);
extern void wrap_key(const uint8 *with, const pg_uuid_t *key, const pg_uuid_t *owner, int version, const uint8 *bytes,
					 int length, uint8 *wrapped);
extern bool unwrap_key(const uint8 *with, const pg_uuid_t *key, const pg_uuid_t *owner, int version,
					   const uint8 *wrapped, int wrapped_length, uint8 *bytes);
extern uint8 *held_key(const pg_uuid_t *key);
extern bool may_open_key(const char *name, const char *owner, Oid user);
extern void share_keys(QueryDesc *query);
extern void unshare_keys(void);
extern void request_key_memory(void);
extern void begin_sealed(void);

extern bool server_holds(const char *name, const pg_uuid_t *id);
extern void hold_server_key(const char *name, const pg_uuid_t *id, const uint8 *bytes);

/* sealed_secrets.c */
extern pg_uuid_t id_of_key(const char *name);
extern bool is_key(const char *name, const uint8 *bytes);
extern uint8 *key_of_server(const char *name, uint8 *secret, int length);

/* sealed_server.c */
extern char *key_command;
extern bool reads_sealed(PlannedStmt *plan);
extern void require_server_keys(PlannedStmt *plan);
extern void begin_server_run(QueryDesc *query);
extern void end_server_run(QueryDesc *query);
extern bool server_run_is_on(void);
extern bool suspend_server_run(QueryDesc *query);
extern void resume_server_run(void);

/* sealed_statements.c */
extern void require_sealed_view(Oid view, Oid base);
extern void aim_at_sealed(Query *query);
extern PlannedStmt *aim_command(PlannedStmt *planned);
extern void look_at_discard(Node *statement);

/* sealed_plans.c */
extern FuncExpr *unsealing(Node *node);
extern void prepare_sealed(Query *query);
extern void give_row_ids(PlannedStmt *planned);

/* sealed_spills.c */
extern void refuse_spills(void);
extern bool values_were_unsealed(void);
extern void begin_sealed_run(ErrorContextCallback *callback);
extern void end_sealed_run(ErrorContextCallback *callback);

/* sealed_log.c */
extern void keep_secrets_out_of_log(void);
extern void hide_statement(void);
extern void look_at_execute(Node *statement);

/* settings */
extern bool sealed_scan;

#pragma GCC visibility pop

#endif
