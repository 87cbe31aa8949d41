import { moneyText } from '../../../config/minor-units.ts'
import { subscriptionInvoiceDueDatePassed } from '../../../config/events/admin.ts'
import { entitlementEnded } from '../../../config/events/admin.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { tellOwners } from '../notices.ts'

type Ended = { id: string; key: string; source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT'; expiresAt: Date | null }

/** Tenants with grants whose time is over and whose end is not written. */
export const tenantsWithExpired = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string }>(
    trx,
    `select distinct tenant_id from entitlement_grant where ended_at is null and expires_at <= now() and tenant_id > ? order by tenant_id limit ?`,
    [after, most],
  )

/** Writes the ends of grants whose time is over, in the transaction's tenant. */
export const expireGrantsOf = async (trx: Trx, tenantId: string): Promise<void> => {
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  await sql(trx, `select id from tenant where id = ? for no key update`, [tenantId])
  const ended = await sql<Ended>(
    trx,
    `update entitlement_grant set ended_at = now(), end_cause = 'expired' where tenant_id = ? and ended_at is null and expires_at <= now()
     returning id, key, source, expires_at`,
    [tenantId],
  )
  for (const { id, key, source, expiresAt } of ended) {
    await audit(trx, {
      action: 'entitlement.expire',
      subjectType: 'Entitlement',
      subjectId: id,
      changes: [
        { field: 'key', before: key, after: null },
        { field: 'source', before: source, after: null },
      ],
    })
    await emit(trx, entitlementEnded, {
      propertyId: null,
      id,
      version: null,
      data: { key, source, expiresAt: expiresAt?.toISOString() ?? null, endCause: 'expired' },
    })
  }
}

/** After the day on which an invoice is due, the days on which its tenant is told. */
const dunningDays = [1, 8, 15]

/** Tenants with an invoice that is past its day. */
export const tenantsPastDue = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string }>(
    trx,
    `select distinct i.tenant_id from subscription_invoice i where i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date and i.tenant_id > ?
     order by i.tenant_id limit ?`,
    [after, most],
  )

type Overdue = {
  id: string
  number: string
  total: number
  currency: string
  dueOn: string
  days: number
  isNew: boolean
  locale: string
}

/** Notes what a tenant owes past its day: once for each invoice it is told as an event, and by mail after some days. */
export const flagOverdueOf = async (trx: Trx, tenantId: string): Promise<void> => {
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const overdue = await sql<Overdue>(
    trx,
    `select i.id, i.number, i.total, i.currency, i.due_on::text as due_on, (now() at time zone 'UTC')::date - i.due_on as days, i.overdue_at is null as is_new,
       t.locale from subscription_invoice i join tenant t on t.id = i.tenant_id
     where i.tenant_id = ? and i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date order by i.due_on, i.id for no key update of i`,
    [tenantId],
  )
  if (overdue.length === 0) return
  await sql(trx, `update subscription set past_due_since = coalesce(past_due_since, now()) where tenant_id = ?`, [
    tenantId,
  ])
  for (const { id, number, total, currency, dueOn, days, isNew, locale } of overdue) {
    if (isNew) {
      await sql(trx, `update subscription_invoice set overdue_at = now() where id = ?`, [id])
      await emit(trx, subscriptionInvoiceDueDatePassed, {
        propertyId: null,
        id,
        version: null,
        data: { invoiceId: id, number, total, currency, dueOn },
      })
    }
    const step = dunningDays.filter((day) => days >= day).length
    await tellOwners(trx, 'subscription_overdue', `${id} ${step}`, {
      key: number,
      day: dueOn,
      amount: moneyText(total, currency, locale),
    })
  }
}

/** Tenants that are there, by id. */
export const tenantsAfter = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string }>(
    trx,
    `select id as tenant_id from tenant where status <> 'deleted' and id > ? order by id limit ?`,
    [after, most],
  )

const gigabyte = 1_000_000_000

/** Takes down how much the transaction's tenant stores: the largest of a day, in whole gigabytes. A day of a closed period counts in the present one. */
export const snapshotStorageOf = async (trx: Trx, tenantId: string): Promise<void> => {
  const found = await sqlOne<{ bytes: number }>(
    trx,
    `select coalesce(sum(octet_length(bytes)), 0)::bigint as bytes from blob`,
  )
  const gigabytes = Math.ceil((found?.bytes ?? 0) / gigabyte)
  if (gigabytes === 0) return
  await sql(
    trx,
    `insert into usage_day (tenant_id, meter, day, quantity)
     select t.id, 'storage.gigabytes', greatest((now() at time zone t.time_zone)::date, s.period_start), ?
     from (select tenant_id, period_start from subscription where tenant_id = ? for share) s join tenant t on t.id = s.tenant_id
     on conflict (tenant_id, meter, day) do update set quantity = greatest(usage_day.quantity, excluded.quantity)`,
    [gigabytes, tenantId],
  )
}

/** Tenants whose features are not those of their grants. There should be none. */
export const wrongFeatures = (trx: PlatformTrx) =>
  sql<{ tenantId: string }>(
    trx,
    `select id as tenant_id from tenant where status <> 'deleted' and (features_valid_until is null or features_valid_until > now())
       and features is distinct from active_features(id) order by id limit 100`,
  )
