import { nightAuditStarted } from '../../config/events/night-audit.ts'
import { settings } from '../../config/env.ts'
import { nilId } from '../../config/nil-id.ts'
import { notFound, unprocessable } from '../../config/errors.ts'
import { addDays, localInstant } from '../../config/time.ts'
import { closeBusinessDay } from '../../jobs/night-audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import type { NightAuditRow } from '../rows.ts'
import { readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { AuditException } from './audits.ts'
import { exceptionsOfDay, exceptionsOfStays } from './exceptions.ts'
import { countStays, nextStays } from './stays.ts'

type Standing = Pick<NightAuditRow, 'id' | 'status' | 'turn'>

/** Asks for the job of an audit; while one is there, nothing more. */
export const askFor = async (trx: Trx, { id, turn }: Pick<NightAuditRow, 'id' | 'turn'>): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId) await enqueue(trx, closeBusinessDay, { tenantId, nightAuditId: id }, { uniqueKey: `${id}.${turn}` })
}

/** An audit that is over or running is answered as it stands, without waiting for its runner's locks. */
const undisturbed = (trx: Trx, propertyId: string, businessDate: string) =>
  sqlOne<{ id: string }>(
    trx,
    `select id from night_audit where property_id = ? and business_date = ? and (status = 'succeeded' or lease_until > now())`,
    [propertyId, businessDate],
  )

const lockAudit = (trx: Trx, propertyId: string, businessDate: string) =>
  sqlOne<Standing>(
    trx,
    `select id, status, turn from night_audit where property_id = ? and business_date = ? for no key update`,
    [propertyId, businessDate],
  )

/** Goes on with an audit that stopped; one that is under way or over stays as it is. */
const resume = async (trx: Trx, audit: Standing): Promise<void> => {
  if (audit.status === 'succeeded') return
  if (audit.status === 'failed')
    await sql(trx, `update night_audit set status = 'queued', finished_at = null, version = version + 1 where id = ?`, [
      audit.id,
    ])
  await askFor(trx, audit)
}

const begin = async (trx: Trx, propertyId: string, businessDate: string): Promise<string | null> => {
  const { actor } = contextOf(trx)
  const [made] = await sql<{ id: string }>(
    trx,
    `insert into night_audit (property_id, business_date, started_by) values (?, ?, ?) on conflict do nothing returning id`,
    [propertyId, businessDate, actor.type === 'user' ? actor.id : null],
  )
  if (!made) return null
  await emit(trx, nightAuditStarted, {
    propertyId,
    id: made.id,
    version: 1,
    data: { nightAuditId: made.id, businessDate, step: null, exceptionCount: 0 },
  })
  await askFor(trx, { id: made.id, turn: 1 })
  return made.id
}

const wrongDate = (businessDate: string | null) =>
  unprocessable('wrong_business_date', 'Only the open business day can be closed', [
    {
      field: 'businessDate',
      message: businessDate ? `must be ${businessDate}` : 'the property has no business day yet',
    },
  ])

/** A business day is over when the next calendar day has begun in the property's zone, or at once where days are closed ahead. */
const isOver = ({ timezone, now }: Pick<SaleProperty, 'timezone' | 'now'>, businessDate: string) =>
  settings.businessDayAhead || now >= localInstant(addDays(businessDate, 1), '00:00', timezone)

type Request = { propertyId: string; businessDate: string }

/**
 * Runs the close of a business day, or goes on with one that stopped. 422 `wrong_business_date` for any day but the open one, `business_date_not_over`
 * before it is. Answers the audit's id, and whether it is new.
 */
export const requestNightAudit = async (
  trx: Trx,
  { propertyId, businessDate }: Request,
): Promise<{ id: string; isNew: boolean }> => {
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound()
  const running = await undisturbed(trx, propertyId, businessDate)
  if (running) return { id: running.id, isNew: false }
  const standing = await lockAudit(trx, propertyId, businessDate)
  if (standing) {
    await resume(trx, standing)
    return { id: standing.id, isNew: false }
  }
  if (property.businessDate !== businessDate) throw wrongDate(property.businessDate)
  if (!isOver(property, businessDate))
    throw unprocessable('business_date_not_over', 'The business day is not over yet in the zone of the property', [
      { field: 'businessDate', message: `ends with ${businessDate} in ${property.timezone}` },
    ])
  const made = await begin(trx, propertyId, businessDate)
  if (made) return { id: made, isNew: true }
  // Another request came a moment ago.
  return requestNightAudit(trx, { propertyId, businessDate })
}

export type AuditPreview = {
  businessDate: string
  exceptions: AuditException[]
  exceptionCount: number
  noShows: number
  /** Nights and days of service that would be charged. */
  charges: { nights: number; extras: number }
}

const shown = 1_000

/** Previews what closing the open day would find and charge. Stores nothing. */
export const previewNightAudit = async (trx: Trx, { propertyId, businessDate }: Request): Promise<AuditPreview> => {
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound()
  if (property.businessDate !== businessDate) throw wrongDate(property.businessDate)
  const of = { propertyId, businessDate }
  const exceptions = await exceptionsOfDay(trx, propertyId, businessDate)
  for (let after: string | undefined = nilId; after !== undefined;) {
    const ids: string[] = await nextStays(trx, of, 'inHouse', after)
    if (ids.length > 0) exceptions.push(...(await exceptionsOfStays(trx, businessDate, ids)))
    after = ids.at(-1)
  }
  const due = await sqlOne<{ nights: number; extras: number }>(
    trx,
    `select (select count(*)::int from reservation r join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status = 'open'
         and n.date <= cast(:businessDate as date) where r.property_id = :propertyId and r.status = 'checked_in') as nights,
       (select coalesce(sum(case when e.basis in ('per_night', 'per_person_per_night')
           then least(e."until", cast(:businessDate as date)) - coalesce(e.charged_until, e."from" - 1) else 1 end), 0)::int
         from reservation r join reservation_extra e on e.tenant_id = r.tenant_id and e.reservation_id = r.id and e.status = 'active'
           and e."from" <= cast(:businessDate as date) and coalesce(e.charged_until < least(e."until", cast(:businessDate as date)), true)
         where r.property_id = :propertyId and r.status = 'checked_in') as extras`,
    of,
  )
  return {
    businessDate,
    exceptions: exceptions
      .slice(0, shown)
      .map(({ code, reservationId, message }) => ({ code, reservationId, message })),
    exceptionCount: exceptions.length,
    noShows: await countStays(trx, of, 'notCome'),
    charges: { nights: due?.nights ?? 0, extras: due?.extras ?? 0 },
  }
}

/** Properties whose open day may be due, and those with a stalled audit; by id, beyond `after`. */
export const daysDue = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; propertyId: string }>(trx, `select tenant_id, property_id from business_days_due(?, ?)`, [
    after,
    most,
  ])

/**
 * Starts the close of the open day of a property where it is due: at the hour of the house, of the next day in its zone; an archived one closes its days
 * whatever its settings say. An audit that stopped is resumed.
 */
export const startDue = async (trx: Trx, propertyId: string): Promise<void> => {
  const property = await readProperty(trx, propertyId)
  if (!property?.businessDate) return
  const standing = await lockAudit(trx, propertyId, property.businessDate)
  if (standing) return resume(trx, standing)
  const { automatic, at } = property.settings.nightAudit
  const isDue = property.now >= localInstant(addDays(property.businessDate, 1), at, property.timezone)
  if (isDue && (automatic || property.status === 'archived')) await begin(trx, propertyId, property.businessDate)
}
