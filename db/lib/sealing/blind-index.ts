import { createHmac } from 'node:crypto'
import type { Knex } from 'knex'
import { required, settings } from '../../../config/env.ts'
import { database } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { movedInKey } from '../moved-in.ts'
import { tenantOf } from './keys.ts'
import { normaliseDocument, normaliseEmail, normaliseName, normalisePhone } from './normalise.ts'

const normalise = {
  email: normaliseEmail,
  phone: normalisePhone,
  /** The last four digits. */
  phone_tail: (value: string) => value.replace(/\D/g, '').slice(-4),
  document: normaliseDocument,
  name: normaliseName,
  /** The id of a guest, for certificates, which name no person. */
  guest: (value: string) => value,
  /** A day, `1990-02-28`. */
  birth: (value: string) => value.trim(),
}

export type IndexKind = keyof typeof normalise

const digest = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The key of a tenant's blind indexes: made of INDEX_KEY, or the one with which it came from another installation. */
export const indexKeyOf = (tenantId: string, knex: Knex = database()): Buffer =>
  movedInKey(knex, tenantId) ?? digest(required(settings.indexKey, 'INDEX_KEY'), `blind index|${tenantId}`)

/** The blind index of a value in a tenant that is named, for a search over several. */
export const blindIndexOf = (tenantId: string, kind: IndexKind, value: string): Buffer =>
  digest(indexKeyOf(tenantId), `${kind}:${normalise[kind](value)}`).subarray(0, 16)

/**
 * Finds an exact value without storing it: the first 16 bytes of an HMAC under a key of the tenant, over the normalised value.
 * One value has different indexes in different tenants.
 */
export const blindIndex = (trx: Trx, kind: IndexKind, value: string): Buffer => blindIndexOf(tenantOf(trx), kind, value)
