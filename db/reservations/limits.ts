import { createHmac } from 'node:crypto'
import { required, settings } from '../../config/env.ts'
import { ApiError } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { contextOf, prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { PoolShare, PoolNight } from '../units/index.ts'
import { holdAllowance } from './rules/holds.ts'

/** Advisory locks have two numbers; the first says what the second is a hash of. */
const addressClass = 7101
const emailClass = 7102

const perAddress = 3
const perEmail = 2

/** Names a client's address without keeping it; another one in each tenant. */
export const hashAddress = (trx: Trx, client: string): Buffer =>
  createHmac('sha256', required(settings.indexKey, 'INDEX_KEY'))
    .update(`address|${contextOf(trx).tenantId}|${client}`)
    .digest()
    .subarray(0, 16)

export type Stranger = { propertyId: string; emailIndex: Buffer; addressHash: Buffer }

const lockName = (key: Buffer) => key.readInt32BE(0)

/** Makes what follows one after the other for one address, and for one e-mail at one property. The first locks of a hold. */
export const lockLimits = async (trx: Trx, { propertyId, emailIndex, addressHash }: Stranger): Promise<void> => {
  await prepared(trx, `select pg_advisory_xact_lock(?, ?), pg_advisory_xact_lock(?, ? # hashtext(?))`, [
    addressClass,
    lockName(addressHash),
    emailClass,
    lockName(emailIndex),
    propertyId,
  ])
}

const refused = (seconds: number, message: string, errors?: FieldError[]) =>
  new ApiError('hold_limit', message, { errors, retryAfterSeconds: Math.max(1, Math.ceil(seconds)) })

type Counts = {
  ofAddress: number
  addressSeconds: number | null
  ofEmail: number
  emailSeconds: number | null
  strikeSeconds: number | null
}

/** The holds of a stranger so far (R9). The locks of `lockLimits` make the counts exact. */
export const countHolds = (trx: Trx, { propertyId, emailIndex, addressHash }: Stranger) =>
  preparedOne<Counts>(
    trx,
    `select
       (select count(*) from booking b where b.address_hash = :addressHash and b.hold_expires_at > now()) as of_address,
       (select extract(epoch from min(b.hold_expires_at) - now())::float8 from booking b
        where b.address_hash = :addressHash and b.hold_expires_at > now()) as address_seconds,
       (select count(*) from booking b
        where b.property_id = :propertyId and b.email_index = :emailIndex and b.hold_expires_at > now()) as of_email,
       (select extract(epoch from min(b.hold_expires_at) - now())::float8 from booking b
        where b.property_id = :propertyId and b.email_index = :emailIndex and b.hold_expires_at > now()) as email_seconds,
       (select extract(epoch from max(s.expired_at) + interval '24 hours' - now())::float8 from
          (select x.expired_at, lag(x.expired_at, 2) over (order by x.expired_at) as third_last from hold_strike x
           where x.property_id = :propertyId and x.email_index = :emailIndex and x.expired_at > now() - interval '48 hours') s
        where s.third_last > s.expired_at - interval '24 hours' and s.expired_at > now() - interval '24 hours') as strike_seconds`,
    { propertyId, emailIndex, addressHash },
  )

/** Refuses a guest who has too many holds already. */
export const judgeHolds = (counts: Counts | null): void => {
  if (!counts) return
  if (counts.strikeSeconds !== null) throw refused(counts.strikeSeconds, 'Too many holds ended unpaid; try again later')
  if (counts.ofAddress >= perAddress)
    throw refused(
      counts.addressSeconds ?? 60,
      `At most ${perAddress} stays can be held at a time; pay, confirm or release one first`,
    )
  if (counts.ofEmail >= perEmail)
    throw refused(
      counts.emailSeconds ?? 60,
      `At most ${perEmail} stays can be held with one e-mail address; pay, confirm or release one first`,
    )
}

type Wanted = { propertyId: string; holdShare: number; rooms: readonly { pools: readonly PoolShare[] }[] }

/**
 * Refuses a hold that puts more of a pool's night into unpaid portal holds than the property allows. Called by `moveInventory` with
 * the counters locked, so the count is exact; the hold itself is among the rows already.
 */
export const checkHoldShare = async (
  trx: Trx,
  { propertyId, holdShare, rooms }: Wanted,
  locked: readonly PoolNight[],
): Promise<void> => {
  const own = new Set(rooms.flatMap((room) => room.pools.map((pool) => pool.poolId)))
  // The holds of strangers are a part of all holds, so most nights need no count.
  const doubtful = locked.filter((row) => own.has(row.poolId) && row.held > holdAllowance(row.capacity, holdShare))
  if (doubtful.length === 0) return
  const rows = await prepared<{ poolId: string; night: string; held: number; endsIn: number }>(
    trx,
    `select p.unit_pool_id as pool_id, n.date as night, sum(p.quantity)::int as held, extract(epoch from min(b.hold_expires_at) - now())::float8 as ends_in
     from unit_type_pool p
     join reservation_night n on n.tenant_id = p.tenant_id and n.unit_type_id = p.unit_type_id and n.date = any(?::date[]) and n.status = 'open'
     join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id and r.status = 'held'
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id and b.property_id = ? and b.source = 'portal' and b.credit = 0
     where p.unit_pool_id = any(?::uuid[]) group by 1, 2`,
    [[...new Set(doubtful.map((row) => row.night))], propertyId, [...new Set(doubtful.map((row) => row.poolId))]],
  )
  const over = doubtful.flatMap((night) => {
    const unpaid = rows.find((row) => row.poolId === night.poolId && row.night === night.night)
    return (unpaid?.held ?? 0) > holdAllowance(night.capacity, holdShare)
      ? [{ night: night.night, endsIn: unpaid?.endsIn ?? 60 }]
      : []
  })
  if (over.length === 0) return
  throw refused(
    Math.min(...over.map((one) => one.endsIn)),
    'Too many rooms of these nights are held and not paid yet; try again later',
    [...new Set(over.map((one) => one.night))].map((night) => ({
      field: `nights.${night}`,
      message: 'is held by too many guests',
    })),
  )
}
