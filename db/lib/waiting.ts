import { matchWaitlist } from '../../jobs/reservations.ts'
import { contextOf, prepared } from './connection.ts'
import type { Trx } from './connection.ts'
import { enqueue } from './enqueue.ts'

/** SQL that tells whether an open entry of the waitlist wants a room of a property. For statements that read the property anyway. */
export const hasWaiting = (property: string) =>
  `exists (select from waitlist_entry w where w.tenant_id = ${property}.tenant_id and w.property_id = ${property}.id and w.status <> 'closed'
     and w.arrival >= coalesce(${property}.business_date, current_date - 1))`

/**
 * Asks that the waitlist of a property be looked through after the commit. Every cause asks for itself: a job that has begun does not see what commits
 * after it.
 */
export const requestMatches = async (trx: Trx, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId !== null) await enqueue(trx, matchWaitlist, { tenantId, propertyId })
}

/** Asks as `requestMatches` does, where the waitlist of the property has an open entry. */
export const requestMatchesIfAny = async (trx: Trx, propertyId: string): Promise<void> => {
  const [found] = await prepared(
    trx,
    `select 1 from waitlist_entry where property_id = ? and status <> 'closed' limit 1`,
    [propertyId],
  )
  if (found) await requestMatches(trx, propertyId)
}
