import { customerCreditHeld } from '../../../config/events/accounts-receivable.ts'
import { dunningRunCompleted } from '../../../config/events/fiscal.ts'
import { conflict } from '../../../config/errors.ts'
import type { DunningStep, ReminderChannel } from '../../../config/dunning.ts'
import { todayIn } from '../../../config/time.ts'
import { runDunning } from '../../../jobs/fiscal.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { model } from '../../lib/models.ts'
import { changeRow, insertIfNew } from '../../lib/records.ts'
import { queueMessages } from '../../ocp/index.ts'
import type { ManyRequest } from '../../ocp/index.ts'
import { Customer } from '../models.ts'
import { addressesOn, debtorsOf, planOn, recipientOf, writerOf } from '../sending/recipients.ts'
import type { Debtor } from '../sending/recipients.ts'
import { readSettings } from '../settings/settings.ts'
import { customerFact, lockCustomers } from '../state.ts'
import { isOver } from './messages.ts'
import { planNotices, storeNotices } from './plan.ts'
import type { DunningRules, PlannedNotice } from './plan.ts'

export const DunningRun = model<'dunning_run', { steps: DunningStep[]; counts: Record<string, number> }>('dunning_run')
export type RunRecord = NonNullable<(typeof DunningRun)['row']>

type Book = { id: string; timeZone: string }
const mostPlanned = 1_000

/** The notices that a run of today would send (R16). Customers without an address are found by opening theirs. */
export const previewDunning = async (trx: Trx, book: Book): Promise<{ runOn: string; planned: PlannedNotice[] }> => {
  const { dunning } = await readSettings(trx, book)
  const runOn = todayIn(book.timeZone)
  const planned = await planNotices(trx, { bookId: book.id, runOn, ...dunning }, mostPlanned)
  const debtors = await debtorsOf(trx, [
    ...new Set(planned.filter(({ skipReason }) => skipReason === null).map(({ customerId }) => customerId)),
  ])
  const isReached = (notice: PlannedNotice) => {
    const debtor = debtors.find(({ id }) => id === notice.customerId)
    return debtor !== undefined && notice.channels.some((one) => addressesOn(debtor, one as ReminderChannel).length > 0)
  }
  return {
    runOn,
    planned: planned.map((notice) =>
      notice.skipReason === null && !isReached(notice) ? { ...notice, skipReason: 'no_address' as const } : notice,
    ),
  }
}

/** Starts the run of today, unless there is one: answers the id, and whether it was made now. 409 `invalid_transition` where reminders are off. */
export const startDunning = async (
  trx: Trx,
  book: Book,
  startedBy: string | null,
): Promise<{ id: string; made: boolean }> => {
  const { tenantId } = contextOf(trx)
  const runOn = todayIn(book.timeZone)
  const stands = () =>
    sqlOne<{ id: string }>(trx, `select id from dunning_run where tenant_id = ? and book_id = ? and run_on = ?`, [
      tenantId,
      book.id,
      runOn,
    ])
  const before = await stands()
  if (before) return { id: before.id, made: false }
  const { dunning } = await readSettings(trx, book)
  if (!dunning.enabled)
    throw conflict('invalid_transition', 'Reminders of the book are off', [
      { field: 'dunning.enabled', message: 'must be true' },
    ])
  const { steps, minimum } = dunning
  const run = await insertIfNew(trx, DunningRun, { bookId: book.id, runOn, steps, minimum, startedBy }, [
    'tenantId',
    'bookId',
    'runOn',
  ])
  if (!run) return { id: (await stands())?.id ?? '', made: false }
  await enqueue(trx, runDunning, { tenantId: tenantId ?? '', dunningRunId: run.id }, { uniqueKey: run.id })
  return { id: run.id, made: true }
}

/** Books whose hour of reminders has come, of all tenants. */
export const booksToDun = (trx: PlatformTrx): Promise<{ tenantId: string; bookId: string }[]> =>
  sql<{ tenantId: string; bookId: string }>(trx, `select tenant_id, book_id from books_to_dun()`)

/** Starts the run of a book whose hour has come, once a day. */
export const startDue = async (trx: Trx, bookId: string): Promise<void> => {
  const book = await sqlOne<Book>(trx, `select id, time_zone from book where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    bookId,
  ])
  if (book) await startDunning(trx, book, null)
}

const lockRun = (trx: Trx, id: string): Promise<RunRecord | null> =>
  sqlOne<RunRecord>(trx, `select * from dunning_run where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])

/** Plans a run that waits: all its notices, in one statement. False for one that is over. */
export const beginRun = async (trx: Trx, id: string): Promise<boolean> => {
  const run = await lockRun(trx, id)
  if (!run || run.status === 'done') return false
  if (run.status === 'running') return true
  const rules: DunningRules = { bookId: run.bookId, runOn: run.runOn, steps: run.steps, minimum: run.minimum }
  await storeNotices(trx, id, rules)
  await changeRow(trx, DunningRun, id, { status: 'running' })
  return true
}

type Mine = {
  id: string
  customerId: string
  channels: ReminderChannel[]
  stopCredit: boolean
  level: number
  propertyId: string | null
}

/**
 * Puts customers on hold whose reminders are of a step with `stopCredit`. Skipped notices hold none, and neither do those of installments that were paid or dated
 * anew since the run: under the locks of their customers no amount moves.
 */
const stopCredit = async (trx: Trx, notices: readonly Mine[]): Promise<void> => {
  const stops = notices.filter((one) => one.stopCredit)
  if (stops.length === 0) return
  const customers = await lockCustomers(trx, [...new Set(stops.map(({ customerId }) => customerId))])
  const levels = await sql<{ customerId: string; level: number }>(
    trx,
    `select n.customer_id, max(n.level) as level from dunning_notice n
     join receivable r on r.tenant_id = n.tenant_id and r.id = n.receivable_id
     join receivable_installment i on i.tenant_id = n.tenant_id and i.receivable_id = r.id and i.id = n.installment_id
     join dunning_run d on d.tenant_id = n.tenant_id and d.id = n.dunning_run_id
     where n.tenant_id = ? and n.id = any(?::uuid[]) and ${isOver} is not true group by 1`,
    [contextOf(trx).tenantId, stops.map(({ id }) => id)],
  )
  for (const customer of customers) {
    const level = levels.find(({ customerId }) => customerId === customer.id)?.level
    if (customer.onHold || level === undefined) continue
    const change = { onHold: true, holdReason: `Reminder of level ${level}` }
    const version = await changeRow(trx, Customer, customer.id, change)
    await emit(trx, customerCreditHeld, customerFact({ ...customer, ...change, version }))
  }
}

/** The messages of one customer, one for each channel and address. */
const messagesOf = (runId: string, debtor: Debtor, mine: readonly Mine[], writer: string | null): ManyRequest[] => {
  const houses = new Set(mine.map(({ propertyId }) => propertyId))
  const propertyId = (houses.size === 1 ? [...houses][0] : null) ?? writer
  if (propertyId === null) return []
  return [...new Set(mine.flatMap(({ channels }) => channels))].flatMap((channel) =>
    addressesOn(debtor, channel).map((address, index) => ({
      propertyId,
      dedupeKey: `notice-${runId}-${debtor.id}-${channel}${index === 0 ? '' : `-${index}`}`,
      recipient: recipientOf(debtor, channel, address),
      data: { dunningRunId: runId, customerId: debtor.id, channel },
      plan: planOn(channel),
    })),
  )
}

const customersAtOnce = 250

/**
 * Notices of the next customers that have no message yet, in one pass along the index of the run that ends at the last of these customers. The notices of a
 * fresh run are in no statistics: a look-up for each customer was planned along another index, and read all notices of the run every time.
 */
const nextOf = (trx: Trx, runId: string, after: string | null): Promise<Mine[]> =>
  sql<Mine>(
    trx,
    `select n.id, n.customer_id, n.channels, n.stop_credit, n.level,
       (select r.property_id from receivable r where r.tenant_id = :tenantId and r.id = n.receivable_id) as property_id
     from (select x.id, x.customer_id, x.channels, x.stop_credit, x.level, x.receivable_id, dense_rank() over (order by x.customer_id) as place
       from dunning_notice x where x.tenant_id = :tenantId and x.dunning_run_id = :runId and x.status = 'queued' and x.message_ids = '{}'
         and x.customer_id > coalesce(cast(:after as uuid), '00000000-0000-0000-0000-000000000000')) n
     where n.place <= ${customersAtOnce} order by n.customer_id, n.id`,
    { tenantId: contextOf(trx).tenantId, runId, after },
  )

/**
 * Asks for the messages of the next customers of a run, those after `after` by their ids, in a few statements for all of them. Answers the last of them, or null
 * where none is left.
 */
export const writeNotices = async (trx: Trx, runId: string, after: string | null = null): Promise<string | null> => {
  const run = await lockRun(trx, runId)
  if (!run) return null
  const mine = new Map<string, Mine[]>()
  const next = await nextOf(trx, runId, after)
  for (const one of next) {
    const theirs = mine.get(one.customerId)
    if (theirs) theirs.push(one)
    else mine.set(one.customerId, [one])
  }
  const last = next.at(-1)
  if (!last) return null
  const [writer, debtors] = await Promise.all([writerOf(trx, run.bookId), debtorsOf(trx, [...mine.keys()])])
  const planned = debtors.map((debtor) => {
    const theirs = mine.get(debtor.id) ?? []
    const reached = theirs.filter(({ channels }) => channels.some((one) => addressesOn(debtor, one).length > 0))
    return { debtor, theirs, reached: new Set(reached), messages: messagesOf(runId, debtor, reached, writer) }
  })
  await stopCredit(
    trx,
    planned.flatMap(({ messages, reached }) => (messages.length > 0 ? [...reached] : [])),
  )
  const ids = await queueMessages(
    trx,
    'dunning-notice',
    planned.flatMap(({ messages }) => messages),
  )
  const messageIdsOf = ({ messages }: (typeof planned)[number]) =>
    messages.flatMap(({ dedupeKey }) => ids.get(dedupeKey) ?? [])
  const missed = planned.flatMap((one) =>
    messageIdsOf(one).length === 0 ? one.theirs : one.theirs.filter((notice) => !one.reached.has(notice)),
  )
  // Along the index of the run, as they were read: a join with the notices written is planned along another, and reads all notices of the tenant.
  await sql(
    trx,
    `update dunning_notice n set version = n.version + 1,
       status = case when n.id = any(cast(:missed as uuid[])) then 'skipped' else 'queued' end,
       skip_reason = case when n.id = any(cast(:missed as uuid[])) then 'no_address' end,
       message_ids = case when n.id = any(cast(:missed as uuid[])) then '{}'
         else array(select cast(jsonb_array_elements_text((select cast(:messages as jsonb)) -> cast(n.customer_id as text)) as uuid)) end
     where n.tenant_id = :tenantId and n.dunning_run_id = :runId and n.customer_id between :first and :last and n.id = any(cast(:ids as uuid[]))`,
    {
      tenantId: contextOf(trx).tenantId,
      runId,
      first: next[0]?.customerId,
      last: last.customerId,
      ids: planned.flatMap(({ theirs }) => theirs.map(({ id }) => id)),
      missed: missed.map(({ id }) => id),
      messages: JSON.stringify(Object.fromEntries(planned.map((one) => [one.debtor.id, messageIdsOf(one)]))),
    },
  )
  return last.customerId
}

/** Ends a run with its counts. */
export const endRun = async (trx: Trx, id: string): Promise<void> => {
  const run = await lockRun(trx, id)
  if (!run || run.status !== 'running') return
  const rows = await sql<{ name: string; count: number }>(
    trx,
    `select coalesce(skip_reason, 'notices') as name, count(*) as count from dunning_notice where tenant_id = ? and dunning_run_id = ? group by 1`,
    [contextOf(trx).tenantId, id],
  )
  const counts = Object.fromEntries(rows.map(({ name, count }) => [name, count]))
  const version = await changeRow(trx, DunningRun, id, { status: 'done', counts, finishedAt: new Date() })
  await emit(trx, dunningRunCompleted, {
    propertyId: null,
    id,
    version,
    data: { dunningRunId: id, receivableId: null, customerId: null, level: null },
  })
}
