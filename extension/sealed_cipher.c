/*
 * sealed_cipher.c: what OpenSSL does for sealed columns. AES-256-GCM (NIST SP 800-38D) where equal values must not look equal,
 * AES-256-SIV (RFC 5297) where they must, scrypt (RFC 7914) for keys from secrets.
 *
 * Nonces of GCM are 96 random bits. With 2^32 values under one data key two of them are equal with probability 2^-33, which
 * is the bound of SP 800-38D; discreet.renew_column_key() begins another data key.
 */
#include "sealed.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "utils/memutils.h"

#define RANDOM_BYTES 6144

struct Cipher
{
	EVP_CIPHER_CTX *encrypts;
	EVP_CIPHER_CTX *decrypts;
	EVP_CIPHER_CTX *message;	/* SIV: a copy for each message */
};

pg_noreturn static void
fail(const char *what)
{
	ERR_clear_error();
	ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("OpenSSL could not %s", what)));
}

/* Random bytes, fetched many at once: a call of OpenSSL takes longer than the encryption of a value. */
void
random_bytes(uint8 *to, int length)
{
	static uint8 bytes[RANDOM_BYTES];
	static int	used = RANDOM_BYTES;

	Assert(length <= RANDOM_BYTES);
	if (used + length > RANDOM_BYTES)
	{
		used = RANDOM_BYTES;
		if (!pg_strong_random(bytes, RANDOM_BYTES))
			ereport(ERROR, (errmsg("could not read random numbers")));
		used = 0;
	}
	memcpy(to, bytes + used, length);
	/* what was given out is forgotten here */
	memset(bytes + used, 0, length);
	used += length;
}

static const EVP_CIPHER *
algorithm(bool searchable)
{
	static EVP_CIPHER *fetched[2] = {NULL, NULL};

	if (fetched[searchable] == NULL)
		fetched[searchable] = EVP_CIPHER_fetch(NULL, searchable ? "AES-256-SIV" : "AES-256-GCM", NULL);
	if (fetched[searchable] == NULL)
		fail(searchable ? "provide AES-256-SIV" : "provide AES-256-GCM");
	return fetched[searchable];
}

Cipher *
make_cipher(const uint8 *key, bool searchable)
{
	const EVP_CIPHER *with = algorithm(searchable);
	Cipher	   *cipher = MemoryContextAllocZero(TopMemoryContext, sizeof(Cipher));

	cipher->encrypts = EVP_CIPHER_CTX_new();
	cipher->decrypts = EVP_CIPHER_CTX_new();
	cipher->message = searchable ? EVP_CIPHER_CTX_new() : NULL;
	if (cipher->encrypts == NULL || cipher->decrypts == NULL || (searchable && cipher->message == NULL) ||
		EVP_EncryptInit_ex2(cipher->encrypts, with, key, NULL, NULL) != 1 ||
		EVP_DecryptInit_ex2(cipher->decrypts, with, key, NULL, NULL) != 1)
	{
		free_cipher(cipher);
		fail("begin a cipher");
	}
	return cipher;
}

void
free_cipher(Cipher *cipher)
{
	if (cipher == NULL)
		return;
	/* wipes the key schedules */
	EVP_CIPHER_CTX_free(cipher->encrypts);
	EVP_CIPHER_CTX_free(cipher->decrypts);
	EVP_CIPHER_CTX_free(cipher->message);
	pfree(cipher);
}

void
encrypt_randomised(Cipher *cipher, const uint8 *nonce, const uint8 *about, int about_length, const uint8 *plain, int length,
				   uint8 *sealed, uint8 *tag)
{
	EVP_CIPHER_CTX *context = cipher->encrypts;
	int			written;

	if (EVP_EncryptInit_ex2(context, NULL, NULL, nonce, NULL) != 1 ||
		EVP_EncryptUpdate(context, NULL, &written, about, about_length) != 1 ||
		(length > 0 && EVP_EncryptUpdate(context, sealed, &written, plain, length) != 1) ||
		EVP_EncryptFinal_ex(context, tag, &written) != 1 ||
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) != 1)
		fail("encrypt a value");
}

/* False: the key, the place or the bytes are others. Nothing of `plain` may be used then. */
bool
decrypt_randomised(Cipher *cipher, const uint8 *nonce, const uint8 *about, int about_length, const uint8 *sealed, int length,
				   const uint8 *tag, uint8 *plain)
{
	EVP_CIPHER_CTX *context = cipher->decrypts;
	uint8		rest[EVP_MAX_BLOCK_LENGTH];
	int			written;
	/* with the nonce, which is a call less for each value */
	OSSL_PARAM	expected[] = {
		OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, (void *) tag, TAG_BYTES),
		OSSL_PARAM_construct_end()
	};

	if (EVP_DecryptInit_ex2(context, NULL, NULL, nonce, expected) != 1 ||
		EVP_DecryptUpdate(context, NULL, &written, about, about_length) != 1 ||
		(length > 0 && EVP_DecryptUpdate(context, plain, &written, sealed, length) != 1))
		fail("decrypt a value");
	if (EVP_DecryptFinal_ex(context, rest, &written) == 1)
		return true;
	ERR_clear_error();
	wipe(plain, length);
	return false;
}

/* SIV of no bytes at all is not what OpenSSL encrypts: callers give one at least. */
void
encrypt_searchable(Cipher *cipher, const uint8 *about, int about_length, const uint8 *plain, int length, uint8 *sealed,
				   uint8 *tag)
{
	EVP_CIPHER_CTX *context = cipher->message;
	int			written;

	Assert(length > 0);
	if (EVP_CIPHER_CTX_copy(context, cipher->encrypts) != 1 ||
		EVP_EncryptUpdate(context, NULL, &written, about, about_length) != 1 ||
		EVP_EncryptUpdate(context, sealed, &written, plain, length) != 1 ||
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) != 1)
		fail("encrypt a value");
	(void) EVP_CIPHER_CTX_reset(context);
}

bool
decrypt_searchable(Cipher *cipher, const uint8 *about, int about_length, const uint8 *sealed, int length, const uint8 *tag,
				   uint8 *plain)
{
	EVP_CIPHER_CTX *context = cipher->message;
	int			written;
	bool		good;

	if (length < 1 || EVP_CIPHER_CTX_copy(context, cipher->decrypts) != 1 ||
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, (void *) tag) != 1 ||
		EVP_DecryptUpdate(context, NULL, &written, about, about_length) != 1)
		fail("decrypt a value");
	good = EVP_DecryptUpdate(context, plain, &written, sealed, length) == 1;
	(void) EVP_CIPHER_CTX_reset(context);
	if (good)
		return true;
	ERR_clear_error();
	wipe(plain, length);
	return false;
}

/* The named key: the secret itself, or what scrypt makes of it. */
void
derive_key(const Derivation *how, const uint8 *secret, int length, uint8 *key)
{
	uint64		cost = UINT64CONST(1) << how->cost;
	uint64		memory = UINT64CONST(256) * how->block * cost;
	uint32		block = how->block;
	uint32		lanes = how->lanes;
	EVP_KDF    *scrypt;
	EVP_KDF_CTX *context;
	bool		done;
	OSSL_PARAM	parameters[] = {
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *) secret, length),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *) how->salt, SALT_BYTES),
		OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &cost),
		OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &block),
		OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &lanes),
		OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
		OSSL_PARAM_construct_end()
	};

	if (how->whole)
	{
		if (length != SEAL_KEY_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the key has %d bytes, not %d", length, SEAL_KEY_BYTES),
					 errhint("It was created to be given whole: send its 32 bytes, as decode('…', 'hex').")));
		memcpy(key, secret, SEAL_KEY_BYTES);
		return;
	}
	scrypt = EVP_KDF_fetch(NULL, "SCRYPT", NULL);
	context = scrypt == NULL ? NULL : EVP_KDF_CTX_new(scrypt);
	done = context != NULL && EVP_KDF_derive(context, key, SEAL_KEY_BYTES, parameters) == 1;
	EVP_KDF_CTX_free(context);
	EVP_KDF_free(scrypt);
	if (!done)
		fail("derive a key by scrypt");
}
