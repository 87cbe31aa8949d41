import { conflict, invalid, notFound } from '../../../config/errors.ts'
import { reconciliationBalanced, reconciliationExceptionsFound } from '../../../config/events/payment.ts'
import { shareOf } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, expression } from '../../lib/records.ts'
import type { BalanceTransactionRow, GatewayAccountRow, PaymentExceptionRow, ReconciliationRow } from '../../rows.ts'
import { closeExceptions, openException } from '../exceptions.ts'
import type { ExceptionKind, ExceptionSubject } from '../exceptions.ts'
import { Reconciliation } from '../models.ts'
import { requestImport } from './import.ts'
import { askAgain } from './repair.ts'

export type Counts = { theirs: number; ours: number; matched: number; exceptions: number }

type Theirs = Pick<
  BalanceTransactionRow,
  'id' | 'kind' | 'gross' | 'platformFee' | 'currency' | 'occurredAt' | 'subjectType' | 'subjectId'
> & {
  propertyId: string | null
  amount: number | null
  recordCurrency: string | null
  status: string | null
  platformFeeRate: number | null
}

type Found = { kind: ExceptionKind; subject: ExceptionSubject; amount: number; expected: number | null }

const theirsOf = (trx: Trx, { gatewayAccountId, date }: ReconciliationRow) =>
  sql<Theirs>(
    trx,
    `select t.id, t.kind, t.gross, t.platform_fee, t.currency, t.occurred_at, t.subject_type, t.subject_id,
       coalesce(p.property_id, r.property_id, d.property_id) as property_id,
       coalesce(p.captured_amount, r.amount, d.amount, o.amount) as amount,
       coalesce(p.currency, r.currency, d.currency, o.currency) as record_currency,
       coalesce(p.status, r.status, d.status, o.status) as status, p.platform_fee_rate
     from balance_transaction t
     left join payment p on t.subject_type = 'payment' and p.tenant_id = t.tenant_id and p.id = t.subject_id
     left join refund r on t.subject_type = 'refund' and r.tenant_id = t.tenant_id and r.id = t.subject_id
     left join dispute d on t.subject_type = 'dispute' and d.tenant_id = t.tenant_id and d.id = t.subject_id
     left join payout o on t.subject_type = 'payout' and o.tenant_id = t.tenant_id and o.id = t.subject_id
     where t.gateway_account_id = ? and t.occurred_at >= ?::date::timestamp at time zone 'utc' and t.occurred_at < (?::date + 1)::timestamp at time zone 'utc'
     order by t.seq`,
    [gatewayAccountId, date, date],
  )

type Ours = {
  type: 'payment' | 'refund'
  id: string
  propertyId: string
  amount: number
  currency: string
  isOld: boolean
}

/** Money that came or went here on the day, and that the gateway's list says nothing of. */
const unmatchedOurs = (trx: Trx, { gatewayAccountId, date }: ReconciliationRow) =>
  sql<Ours>(
    trx,
    `select 'payment' as type, p.id, p.property_id, p.captured_amount as amount, p.currency, p.captured_at < now() - interval '24 hours' as is_old
     from payment p where p.gateway_account_id = :account and p.captured_at >= :date::date::timestamp at time zone 'utc'
       and p.captured_at < (:date::date + 1)::timestamp at time zone 'utc'
       and not exists (select from balance_transaction t where t.tenant_id = p.tenant_id and t.subject_type = 'payment' and t.subject_id = p.id)
     union all
     select 'refund', r.id, r.property_id, r.amount, r.currency, r.succeeded_at < now() - interval '24 hours'
     from refund r where r.gateway_account_id = :account and r.via = 'gateway' and r.succeeded_at >= :date::date::timestamp at time zone 'utc'
       and r.succeeded_at < (:date::date + 1)::timestamp at time zone 'utc'
       and not exists (select from balance_transaction t where t.tenant_id = r.tenant_id and t.subject_type = 'refund' and t.subject_id = r.id)`,
    { account: gatewayAccountId, date },
  )

const oursCount = async (trx: Trx, { gatewayAccountId, date }: ReconciliationRow): Promise<number> => {
  const [row] = await sql<{ count: number }>(
    trx,
    `select ((select count(*) from payment where gateway_account_id = :account and captured_at >= :date::date::timestamp at time zone 'utc'
         and captured_at < (:date::date + 1)::timestamp at time zone 'utc')
       + (select count(*) from refund where gateway_account_id = :account and via = 'gateway' and succeeded_at >= :date::date::timestamp at time zone 'utc'
         and succeeded_at < (:date::date + 1)::timestamp at time zone 'utc'))::int as count`,
    { account: gatewayAccountId, date },
  )
  return row?.count ?? 0
}

const needsRecord = new Set(['charge', 'refund', 'refund_failure', 'dispute', 'dispute_reversal', 'payout'])
const settledIn: Partial<Record<Theirs['kind'], readonly string[]>> = {
  charge: ['captured', 'reversed'],
  refund: ['succeeded', 'failed'],
  refund_failure: ['failed'],
  dispute_reversal: ['won'],
}
/** A record may follow its transaction by so long before that is a difference: it is being read. */
const patienceMs = 60 * 60_000

/** Differences of one transaction to what is known here; `isOpen` where it is still being asked for. */
const judge = (row: Theirs, gatewayAccountId: string): { found: Found[]; isOpen: boolean } => {
  const { id, kind, gross, currency, occurredAt, subjectType, subjectId, propertyId } = row
  if (!needsRecord.has(kind)) return { found: [], isOpen: false }
  const foreign: ExceptionSubject = { type: 'balance_transaction', id, propertyId: null, currency, gatewayAccountId }
  const missing: Found = { kind: 'missing_here', subject: foreign, amount: gross, expected: null }
  if (subjectId === null || subjectType === null) return { found: [missing], isOpen: false }
  const expectedStates = settledIn[kind]
  if (expectedStates && !expectedStates.includes(row.status ?? '')) {
    const isOld = Date.now() - occurredAt.getTime() > patienceMs
    return { found: isOld ? [missing] : [], isOpen: true }
  }
  const subject = {
    type: subjectType as ExceptionSubject['type'],
    id: subjectId,
    propertyId,
    currency,
    gatewayAccountId,
  }
  if (row.recordCurrency !== currency)
    return { found: [{ kind: 'currency_differs', subject, amount: gross, expected: row.amount }], isOpen: false }
  const found: Found[] = []
  if (Math.abs(gross) !== Math.abs(row.amount ?? 0) && kind !== 'dispute' && kind !== 'dispute_reversal')
    found.push({ kind: 'amount_differs', subject, amount: row.amount ?? 0, expected: Math.abs(gross) })
  const expectedFee = shareOf(gross, row.platformFeeRate ?? 0)
  if (kind === 'charge' && row.platformFeeRate !== null && row.platformFee !== expectedFee)
    found.push({ kind: 'fee_differs', subject, amount: row.platformFee, expected: expectedFee })
  return { found, isOpen: false }
}

/** Opens what was found, and ends those of this day whose cause is over. */
const writeExceptions = async (trx: Trx, reconciliation: ReconciliationRow, found: readonly Found[]) => {
  for (const { kind, subject, amount, expected } of found)
    await openException(trx, kind, subject, amount, expected, reconciliation.id)
  const open = await sql<PaymentExceptionRow>(
    trx,
    `select * from payment_exception where reconciliation_id = ? and status = 'open'`,
    [reconciliation.id],
  )
  for (const { kind, subjectType, subjectId } of open)
    if (!found.some((one) => one.kind === kind && one.subject.id === subjectId))
      await closeExceptions(trx, { type: subjectType, id: subjectId }, [kind])
}

/** Differences that a person has accepted are none any more. */
const unaccepted = async (trx: Trx, found: readonly Found[]): Promise<Found[]> => {
  if (found.length === 0) return []
  const done = await sql<{ kind: string; subjectId: string }>(
    trx,
    `select kind, subject_id from payment_exception where status = 'resolved' and not automatic and subject_id = any(?)`,
    [found.map((one) => one.subject.id)],
  )
  return found.filter((one) => !done.some((other) => other.kind === one.kind && other.subjectId === one.subject.id))
}

/** Matches a day of an account both ways (R26). Differences are asked for again, and what stays is an exception. */
export const reconcile = async (trx: Trx, id: string): Promise<void> => {
  const reconciliation = await sqlOne<ReconciliationRow>(
    trx,
    `select * from reconciliation where id = ? for no key update`,
    [id],
  )
  if (!reconciliation) return
  const { gatewayAccountId, date } = reconciliation
  const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [gatewayAccountId])
  if (!account) return
  const theirs = await theirsOf(trx, reconciliation)
  const judged = theirs.map((row) => judge(row, gatewayAccountId))
  const ours = await unmatchedOurs(trx, reconciliation)
  const missingThere = ours
    .filter((one) => one.isOld)
    .map(({ type, id: subjectId, propertyId, amount, currency }): Found => ({
      kind: 'missing_there',
      subject: { type, id: subjectId, propertyId, currency, gatewayAccountId },
      amount,
      expected: 0,
    }))
  const found = await unaccepted(trx, [...judged.flatMap((one) => one.found), ...missingThere])
  const doubtful = new Set(found.map((one) => one.subject.id))
  const isMatched = (row: Theirs, index: number) =>
    !judged[index]?.isOpen && !doubtful.has(row.id) && !(row.subjectId !== null && doubtful.has(row.subjectId))
  const [sums] = await sql<{ opening: number; net: number; isOver: boolean }>(
    trx,
    // By days, which follow the list: a transaction that is listed late moves the balances after it.
    `select coalesce(sum(net) filter (where day < :date::date), 0)::bigint as opening,
       coalesce(sum(net) filter (where day = :date::date), 0)::bigint as net, (now() at time zone 'utc')::date > :date::date as is_over
     from gateway_balance_day where gateway_account_id = :account and day <= :date::date`,
    { account: gatewayAccountId, date },
  )
  const { opening = 0, net = 0, isOver = false } = sums ?? {}
  const counts: Counts = {
    theirs: theirs.length,
    ours: await oursCount(trx, reconciliation),
    matched: theirs.filter(isMatched).length,
    exceptions: found.length,
  }
  const isOpen = judged.some((one) => one.isOpen)
  if (isOpen) await askAgain(trx, account, new Date(`${date}T00:00:00Z`))
  await writeExceptions(trx, reconciliation, found)
  const status = found.length > 0 ? 'exceptions' : isOpen ? 'running' : 'balanced'
  const version = await changeRow(trx, Reconciliation, id, {
    status,
    provisional: !isOver,
    openingBalance: opening,
    net,
    closingBalance: opening + net,
    counts,
    lastRunAt: expression('clock_timestamp()'),
  })
  const before = reconciliation.status
  if (status === 'running' || (status === before && JSON.stringify(counts) === JSON.stringify(reconciliation.counts)))
    return
  await emit(trx, status === 'balanced' ? reconciliationBalanced : reconciliationExceptionsFound, {
    propertyId: null,
    id,
    version,
    data: { reconciliationId: id, gatewayAccountId, date, counts },
  })
}

const oldestDays = 35

/** Asks for the import and reconciliation of a day of the last 35, of the gateway's days in UTC. Answers whether it was there before. */
export const requestReconciliation = async (
  trx: Trx,
  { gatewayAccountId, date }: { gatewayAccountId: string; date: string },
): Promise<{ id: string; repeated: boolean }> => {
  const account = await sqlOne<GatewayAccountRow & { ago: number }>(
    trx,
    `select a.*, (now() at time zone 'utc')::date - ?::date as ago from gateway_account a where a.id = ?`,
    [date, gatewayAccountId],
  )
  if (!account) throw notFound('There is no such gateway account')
  if (account.externalId === null) throw conflict('invalid_transition', 'The account is not open yet')
  if (account.ago < 0 || account.ago > oldestDays)
    throw invalid([{ field: 'date', message: `must be one of the last ${oldestDays} days, in UTC` }])
  const [made] = await sql<{ id: string }>(
    trx,
    `insert into reconciliation (gateway_account_id, date) values (?, ?)
     on conflict (tenant_id, gateway_account_id, date) do nothing returning id`,
    [gatewayAccountId, date],
  )
  const id =
    made?.id ??
    (
      await sqlOne<{ id: string }>(
        trx,
        `update reconciliation set status = 'running', version = version + 1 where gateway_account_id = ? and date = ? returning id`,
        [gatewayAccountId, date],
      )
    )?.id
  if (!id) throw notFound()
  await requestImport(trx, account)
  return { id, repeated: !made }
}
