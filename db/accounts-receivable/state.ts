import type { ReceivableStatus } from '../../config/receivables.ts'
import { notFound, versionConflict } from '../../config/errors.ts'
import {
  customerCreditLimitReached,
  receivableCredited,
  receivablePaid,
  receivablePartlyPaid,
  receivableReopened,
} from '../../config/events/accounts-receivable.ts'
import type { Event } from '../../config/events/event.ts'
import { settle } from '../documents/index.ts'
import type { Fact } from '../documents/index.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { insertLater, insertRows } from '../lib/records.ts'
import { locking } from './locking.ts'
import { ReceivableHistory } from './models.ts'
import type { CustomerRecord, ReceivableRecord } from './models.ts'
import { receivableSide } from './side.ts'

export const receivableMoves = lifecycle<ReceivableStatus>('A receivable')({
  changed: { from: ['draft', 'issued', 'partly_paid', 'paid', 'credited', 'written_off'] },
  issued: { from: ['draft'], to: 'issuing' },
  voided: { from: ['draft', 'unbilled', 'issued'], to: 'void' },
  'written off': { from: ['issued', 'partly_paid'], to: 'written_off' },
  reinstated: { from: ['written_off'] },
  rescheduled: { from: ['issued', 'partly_paid'] },
})

/** Locks customers by id. A row that is not there is left out. */
export const lockCustomers = (trx: Trx, ids: readonly string[]): Promise<CustomerRecord[]> =>
  locking(
    sql<CustomerRecord>(
      trx,
      `select * from customer where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`,
      [contextOf(trx).tenantId, ids],
    ),
  )

/**
 * Locks documents by id, their customers first: whatever moves an amount or a state of a document moves the exposure of its customer. Documents that are not
 * there are left out.
 */
export const lockReceivables = async (trx: Trx, ids: readonly string[]): Promise<ReceivableRecord[]> => {
  if (ids.length === 0) return []
  const { tenantId } = contextOf(trx)
  await locking(
    sql(
      trx,
      `select c.id from customer c where c.tenant_id = ? and c.id in (select r.customer_id from receivable r where r.tenant_id = ? and r.id = any(?::uuid[]))
     order by c.id for no key update of c`,
      [tenantId, tenantId, ids],
    ),
  )
  return locking(
    sql<ReceivableRecord>(
      trx,
      `select * from receivable where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`,
      [tenantId, ids],
    ),
  )
}

/** Locks a document with its customer, and compares the version that its reader saw. 404, 409 `version_conflict`. */
export const lockReceivable = async (
  trx: Trx,
  id: string,
  expected: number | null = null,
): Promise<ReceivableRecord> => {
  const [row] = await lockReceivables(trx, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

type Step = {
  command: string
  from: ReceivableStatus | null
  to: ReceivableStatus
  reason?: string | null
  changes?: object
}

const stepOf = (trx: Trx, receivableId: string, step: Step) => {
  const { actor, requestId } = contextOf(trx)
  return {
    receivableId,
    command: step.command,
    fromStatus: step.from,
    toStatus: step.to,
    changes: step.changes ?? {},
    reason: step.reason ?? null,
    actor,
    requestId,
  }
}

/** Writes a step of a document into its history, with the next statement. */
export const note = (trx: Trx, receivableId: string, step: Step): void => {
  insertLater(trx, ReceivableHistory, stepOf(trx, receivableId, step))
}

/** Writes one step of several documents, in one statement. */
export const noteAll = async (trx: Trx, ids: readonly string[], step: Step): Promise<void> => {
  await insertRows(
    trx,
    ReceivableHistory,
    ids.map((id) => stepOf(trx, id, step)),
  )
}

type Told = {
  id: string
  propertyId: string | null
  version: number
  number: number | null
  customerId: string
  status: ReceivableStatus
  total: number
  open: number
  currency: string
  dueOn: string | null
}

const factOf = ({ id, propertyId, version, number, customerId, total, open, currency, dueOn }: Told) => ({
  propertyId,
  id,
  version,
  data: { receivableId: id, number, customerId, total, openAmount: open, currency, dueOn },
})

/** Documents as events tell of them, with the first day on which something is due. */
const toldOf = (trx: Trx, ids: readonly string[]) =>
  sql<Told>(
    trx,
    `select p.id, p.property_id, p.version, p.number, p.customer_id, p.status, p.total, p.open, p.currency,
       (select min(i.due_on) from receivable_installment i where i.tenant_id = p.tenant_id and i.receivable_id = p.id and i.open > 0) as due_on
     from receivable p where p.tenant_id = ? and p.id = any(?::uuid[]) order by p.id`,
    [contextOf(trx).tenantId, ids],
  )

/** Tells of documents as they stand now, in few statements. */
export const tellAll = async (trx: Trx, event: Event, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await emitAll(trx, event, (await toldOf(trx, ids)).map(factOf))
}

/** Tells of a document as it stands now. */
export const tell = async (trx: Trx, event: Event, id: string): Promise<void> => tellAll(trx, event, [id])

const eventOf: { [Status in ReceivableStatus]?: Event } = {
  paid: receivablePaid,
  partly_paid: receivablePartlyPaid,
  credited: receivableCredited,
}

/**
 * Moves amounts of issued documents by dated facts (R6): the state follows in the database, and the exposure of the customer with it. `before` are the
 * documents as `lockReceivables` answered them. 422 `amount_exceeds_open` beyond what is open of an installment. Tells of those whose state or open amount
 * says more than before: one that was over and is open again is `reopened`.
 */
export const moveAmounts = async (
  trx: Trx,
  before: readonly ReceivableRecord[],
  facts: readonly Fact[],
): Promise<void> => {
  const ids = await settle(trx, receivableSide, facts)
  const over = (status: ReceivableStatus) => ['paid', 'credited', 'written_off'].includes(status)
  for (const told of await toldOf(trx, ids)) {
    const stood = before.find(({ id }) => id === told.id)
    if (!stood) throw new Error('a document was moved that was not locked')
    const isBack = told.open > stood.open
    const event = isBack ? (over(stood.status) ? receivableReopened : undefined) : eventOf[told.status]
    if (event) await emit(trx, event, factOf(told))
  }
}

/** Tells that what a customer owes has come to the limit. */
export const tellLimit = async (trx: Trx, customer: CustomerRecord): Promise<void> => {
  await emit(trx, customerCreditLimitReached, customerFact(customer))
}

/** A customer as events tell of it. */
export const customerFact = ({ id, version, kind, creditLimit, exposure, currency }: CustomerRecord) => ({
  propertyId: null,
  id,
  version,
  data: { customerId: id, kind, creditLimit, exposure, currency },
})
