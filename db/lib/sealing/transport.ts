import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Knex } from 'knex'
import { indexKeyPlace } from '../moved-in.ts'
import { indexKeyOf } from './blind-index.ts'
import { decrypt, encrypt } from './cipher.ts'
import { guestPlace, tenantPlace } from './keys.ts'
import type { GuestKeyPurpose } from './keys.ts'
import { sealForService, unsealForService, unwrap, wrap } from './master.ts'
import type { Place, WrappedKey } from './master.ts'

// Keys go from one installation to another under a key that the two agree upon by X25519: one half is the ticket of the target, the other is made for
// one export. Neither installation learns the other's DATA_KEY, and no key is written open.

/** The half of the target: `publicKey` is its ticket, `privateKey` stays there. */
export type TransportPair = { publicKey: Buffer; privateKey: Buffer }

/** A key between two installations, and the receipt by which the target proves that it gave its half up. */
export type Transport = { key: Buffer; receipt: string }

/** The name of a master key in a row that is on its way. */
const onItsWay = 'move'

const agreed = (privateKey: KeyObject, publicKey: KeyObject): Transport => {
  const secret = diffieHellman({ privateKey, publicKey })
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, 32))
  return { key: derive('pousada move of a tenant'), receipt: derive('pousada move given up').toString('base64url') }
}

const publicFrom = (der: Buffer) => createPublicKey({ key: der, format: 'der', type: 'spki' })

export const makeTransportPair = (): TransportPair => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }),
  }
}

/** The transport to the holder of a ticket, and the half that goes along with the export. */
export const transportTo = (ticket: Buffer): Transport & { publicKey: Buffer } => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return { ...agreed(privateKey, publicFrom(ticket)), publicKey: publicKey.export({ format: 'der', type: 'spki' }) }
}

/** The transport of an export, at the holder of its ticket. */
export const transportFrom = (privateKey: Buffer, half: Buffer): Transport =>
  agreed(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }), publicFrom(half))

export const receiptHash = (receipt: string): Buffer => createHash('sha256').update(receipt).digest()

export const isReceipt = (receipt: string, hash: Buffer): boolean => timingSafeEqual(receiptHash(receipt), hash)

/** A key that is moved: the tenant's, or one of a guest's. */
export type MovedKey = { tenantId: string; guest?: { id: string; purpose: GuestKeyPurpose } }

const placeOf = ({ tenantId, guest }: MovedKey) =>
  guest ? guestPlace(tenantId, guest.id, guest.purpose) : tenantPlace(tenantId)

/** A key of this installation, wrapped for its way. */
export const sendKey = ({ key }: Transport, of: MovedKey, row: WrappedKey): WrappedKey => ({
  wrappedKey: encrypt(key, placeOf(of), unwrap(row, placeOf(of))),
  masterKeyId: onItsWay,
})

/** A key that came, wrapped for this installation. Throws where it was sent to another, or belongs elsewhere. */
export const receiveKey = ({ key }: Transport, of: MovedKey, { wrappedKey, masterKeyId }: WrappedKey): WrappedKey => {
  if (masterKeyId !== onItsWay) throw new Error('this key was not wrapped for a move')
  return wrap(decrypt(key, placeOf(of), wrappedKey), placeOf(of))
}

export const sendIndexKey = ({ key }: Transport, tenantId: string, knex: Knex): Buffer =>
  encrypt(key, indexKeyPlace(tenantId), indexKeyOf(tenantId, knex))

export const receiveIndexKey = ({ key }: Transport, tenantId: string, sent: Buffer): WrappedKey =>
  wrap(decrypt(key, indexKeyPlace(tenantId), sent), indexKeyPlace(tenantId))

const boundTo = ({ table, rowId, purpose }: Place) => `move|${table}|${rowId}|${purpose}`

/** Seals for the way what this installation has sealed for itself. */
export const sendSealed = ({ key }: Transport, place: Place, sealed: Buffer): Buffer =>
  encrypt(key, boundTo(place), Buffer.from(JSON.stringify(unsealForService<unknown>(place, sealed))))

export const receiveSealed = ({ key }: Transport, from: Place, place: Place, sent: Buffer): Buffer =>
  sealForService(place, JSON.parse(decrypt(key, boundTo(from), sent).toString('utf8')) as unknown)
