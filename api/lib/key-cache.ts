import { changedKeys, keyRecord } from '../../db/auth/index.ts'
import type { KeyRecord } from '../../db/auth/index.ts'
import { remember } from './credential-cache.ts'

/** Cached API keys by their public id: a hash, never the key. */
export const keys = remember<KeyRecord>({
  prefix: 'key',
  read: async (knex, keyId) => {
    const record = await keyRecord(knex, keyId)
    return record?.revokedAt === null ? record : null
  },
  changed: changedKeys,
})
