import { hkdfSync, randomBytes } from 'node:crypto'
import { required, settings } from '../../../config/env.ts'
import { decrypt, encrypt } from './cipher.ts'

/** A key as it is stored: under the master key that the id names. */
export type WrappedKey = { wrappedKey: Buffer; masterKeyId: string }

/** The master key in use. Others of DATA_KEY still open what they wrapped, until maintenance has moved it. */
export const newestMasterKey = () => required(settings.dataKeys[0], 'DATA_KEY')

const masterKey = (id: string) => {
  const found = settings.dataKeys.find((candidate) => candidate.id === id)
  if (!found) throw new Error(`DATA_KEY has no part named ${id}, which wraps a key in use`)
  return found.key
}

export const makeKey = (): Buffer => randomBytes(32)

export const wrap = (key: Buffer, bound: string): WrappedKey => {
  const master = newestMasterKey()
  return { wrappedKey: encrypt(master.key, bound, key), masterKeyId: master.id }
}

export const unwrap = ({ wrappedKey, masterKeyId }: WrappedKey, bound: string): Buffer =>
  decrypt(masterKey(masterKeyId), bound, wrappedKey)

/** A key of the service itself, for what belongs to no tenant. It follows from the master key and is stored nowhere. */
const serviceKey = (master: Buffer): Buffer => {
  const known = serviceKeys.get(master)
  if (known) return known
  const made = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), 'pousada service key', 32))
  serviceKeys.set(master, made)
  return made
}
const serviceKeys = new WeakMap<Buffer, Buffer>()

export type Place = { table: string; rowId: string; purpose: string }
const boundTo = ({ table, rowId, purpose }: Place) => `service|${table}|${rowId}|${purpose}`

/** Seals what belongs to no tenant, such as the second factor of a user. */
export const sealForService = (place: Place, value: unknown): Buffer =>
  encrypt(serviceKey(newestMasterKey().key), boundTo(place), Buffer.from(JSON.stringify(value)))

export const unsealForService = <T>(place: Place, sealed: Buffer): T => {
  for (const [index, { key }] of settings.dataKeys.entries()) {
    try {
      return JSON.parse(decrypt(serviceKey(key), boundTo(place), sealed).toString('utf8')) as T
    } catch (error) {
      if (index === settings.dataKeys.length - 1) throw error
    }
  }
  throw new Error('DATA_KEY is not set')
}
