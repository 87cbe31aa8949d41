import { todayIn } from '../../../config/time.ts'
import { importBalance, readDispute, reconcileDay } from '../../../jobs/payment.ts'
import { raiseDocumentPostings, zoneOfBook } from '../../financial/index.ts'
import type { DocumentPosting } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import type { BalanceTransactionRow, GatewayAccountRow } from '../../rows.ts'
import { gateOf } from '../accounts.ts'
import { closeExceptions } from '../exceptions.ts'
import { askAgain } from './repair.ts'

/** A movement of the balance at a gateway, as the gateway's list gives it. */
export type BalanceEntry = {
  externalId: string
  kind: BalanceTransactionRow['kind']
  gross: number
  fee: number
  platformFee: number
  net: number
  currency: string
  occurredAt: Date
  availableAt: Date
  /** The gateway's id of what it is about, and of the charge that a refund is of. */
  source: { type: 'payment' | 'refund' | 'dispute' | 'payout'; reference: string; paymentRef?: string | null } | null
}

export type ImportCall = {
  account: GatewayAccountRow
  accountRef: string
  since: Date
  /** The point where the list goes on; null at its beginning. */
  cursor: string | null
  startedAt: Date
}

const hour = 60 * 60_000
const day = 24 * hour

/** A cut-off import is too old to go on with: what the gateway's cursor names may be gone. */
const cursorGoodMs = 6 * hour

/** The start of an account's next import: where one was cut off, else an hour before the last one, and three days before on a new day. */
export const importCall = async (trx: Trx, gatewayAccountId: string): Promise<ImportCall | null> => {
  const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [gatewayAccountId])
  if (!account?.externalId) return null
  const { importedAt, createdAt, importCursor, importSince, importStartedAt } = account
  const startedAt = new Date()
  const facts = { account, accountRef: account.externalId }
  if (importCursor && importSince && importStartedAt && startedAt.getTime() - importStartedAt.getTime() < cursorGoodMs)
    return { ...facts, since: importSince, cursor: importCursor, startedAt: importStartedAt }
  const isNewDay = importedAt?.toISOString().slice(0, 10) !== new Date().toISOString().slice(0, 10)
  const since = importedAt ? importedAt.getTime() - (isNewDay ? 3 * day : hour) : createdAt.getTime() - day
  return { ...facts, since: new Date(since), cursor: null, startedAt }
}

/** Keeps how far an import has come, so that the next start goes on from there. */
export const keepImport = (trx: Trx, { account, since, startedAt }: ImportCall, cursor: string) =>
  sql(trx, `update gateway_account set import_cursor = ?, import_since = ?, import_started_at = ? where id = ?`, [
    cursor,
    since,
    startedAt,
    account.id,
  ])

const forgotten = 'import_cursor = null, import_since = null, import_started_at = null'

/**
 * An import that the gateway did not answer is made again in two minutes, by the account's own schedule; one that it refused to go on with begins anew.
 */
export const importUnheard = (trx: Trx, id: string, wasRefused: boolean) =>
  sql(
    trx,
    `update gateway_account set ${wasRefused ? `${forgotten},` : ''}
       next_import_at = case when status = 'failed' or ended_at < now() - interval '30 days' then null when status = 'disconnected' then now() + interval '1 hour'
         else least(next_import_at, now() + interval '2 minutes') end where id = ?`,
    [id],
  )

const columns = `gateway_account_id, external_id, kind, gross, fee, platform_fee, net, currency, occurred_at, available_at, source_ref, source_payment_ref, subject_type, subject_id`

const store = (trx: Trx, account: GatewayAccountRow, entries: readonly BalanceEntry[]) =>
  sql<BalanceTransactionRow>(
    trx,
    `insert into balance_transaction (${columns})
     select :account::uuid, e.external_id, e.kind, e.gross, e.fee, e.platform_fee, e.net, e.currency, e.occurred_at, e.available_at, e.source_ref, e.source_payment_ref,
       case when coalesce(p.id, r.id, d.id, o.id) is not null then e.source_type end, coalesce(p.id, r.id, d.id, o.id)
     from jsonb_to_recordset(:entries::jsonb) as e (external_id text, kind text, gross bigint, fee bigint, platform_fee bigint, net bigint, currency text,
       occurred_at timestamptz, available_at timestamptz, source_type text, source_ref text, source_payment_ref text)
     left join payment p on e.source_type = 'payment' and p.tenant_id = :tenant::uuid and p.gateway_account_id = :account::uuid and p.external_id = e.source_ref
     left join refund r on e.source_type = 'refund' and r.tenant_id = :tenant::uuid and r.gateway_account_id = :account::uuid and r.external_id = e.source_ref
     left join dispute d on e.source_type = 'dispute' and d.tenant_id = :tenant::uuid and d.provider = :provider and d.external_id = e.source_ref
     left join payout o on e.source_type = 'payout' and o.tenant_id = :tenant::uuid and o.gateway_account_id = :account::uuid and o.external_id = e.source_ref
     on conflict (tenant_id, gateway_account_id, external_id) do nothing returning *`,
    {
      account: account.id,
      provider: account.provider,
      tenant: account.tenantId,
      entries: JSON.stringify(
        entries.map(({ externalId, platformFee, occurredAt, availableAt, source, ...entry }) => ({
          ...entry,
          external_id: externalId,
          platform_fee: platformFee,
          occurred_at: occurredAt,
          available_at: availableAt,
          source_type: source?.type ?? null,
          source_ref: source?.reference ?? null,
          source_payment_ref: source?.paymentRef ?? null,
        })),
      ),
    },
  )

/** Fees, and what has no event of its own here, are posted from the gateway's list, once each (R25). */
const postingsOf = (row: BalanceTransactionRow, timeZone: string): DocumentPosting[] => {
  const common = { source: { id: row.id }, date: todayIn(timeZone, row.occurredAt) }
  const posting = (event: string, amount: number): DocumentPosting => ({
    ...common,
    event: `payment.${event}`,
    payload: { amounts: { amount }, documents: { account: row.gatewayAccountId } },
  })
  const fees = [
    ...(row.fee === 0 ? [] : [posting('gateway_fee_charged', row.fee)]),
    ...(row.platformFee > 0 ? [posting('platform_fee_charged', row.platformFee)] : []),
    // Stripe gives the platform's share of a refund back within the transaction of the refund.
    ...(row.platformFee < 0 ? [posting('platform_fee_returned', -row.platformFee)] : []),
  ]
  switch (row.kind) {
    case 'gateway_fee':
      return [posting('gateway_fee_charged', -row.net)]
    case 'platform_fee_refund':
      return [posting('platform_fee_returned', row.net)]
    case 'adjustment':
      return [...fees, posting('gateway_adjusted', -row.gross)]
    default:
      return fees
  }
}

/** Fee, platform's fee and net of a payment are what the gateway's list says of it. */
const writeFees = (trx: Trx, ids: readonly string[]) =>
  sql(
    trx,
    `update payment p set fee_amount = t.fee, platform_fee_amount = t.platform_fee, net_amount = t.net, version = version + 1
     from balance_transaction t where t.id = any(?) and t.kind = 'charge' and t.subject_type = 'payment'
       and p.tenant_id = t.tenant_id and p.id = t.subject_id and p.net_amount is distinct from t.net`,
    [ids],
  )

/** Ties transactions to records that were not known here when they were stored. */
export const tieTransactions = async (trx: Trx, account: Pick<GatewayAccountRow, 'id' | 'provider'>): Promise<void> => {
  const values = { account: account.id, provider: account.provider }
  const tied = await sql<{ id: string }>(
    trx,
    `update balance_transaction t set subject_type = s.type, subject_id = s.id
     from (
       select b.id as transaction_id, 'payment' as type, p.id from balance_transaction b join payment p
         on p.tenant_id = b.tenant_id and p.gateway_account_id = b.gateway_account_id and p.external_id = b.source_ref
         where b.gateway_account_id = :account and b.subject_id is null and b.kind = 'charge'
       union all select b.id, 'refund', r.id from balance_transaction b join refund r
         on r.tenant_id = b.tenant_id and r.gateway_account_id = b.gateway_account_id and r.external_id = b.source_ref
         where b.gateway_account_id = :account and b.subject_id is null and b.kind in ('refund', 'refund_failure', 'platform_fee_refund')
       union all select b.id, 'dispute', d.id from balance_transaction b join dispute d
         on d.tenant_id = b.tenant_id and d.provider = :provider and d.external_id = b.source_ref
         where b.gateway_account_id = :account and b.subject_id is null and b.kind in ('dispute', 'dispute_reversal')
       union all select b.id, 'payout', o.id from balance_transaction b join payout o
         on o.tenant_id = b.tenant_id and o.gateway_account_id = b.gateway_account_id and o.external_id = b.source_ref
         where b.gateway_account_id = :account and b.subject_id is null and b.kind in ('payout', 'payout_failure')) s
     where t.id = s.transaction_id and t.subject_id is null returning t.id`,
    values,
  )
  const ids = tied.map((row) => row.id)
  if (ids.length === 0) return
  await writeFees(trx, ids)
  for (const id of ids) await closeExceptions(trx, { type: 'balance_transaction', id }, ['missing_here'])
}

/** Stores a page of the gateway's list; what stands already is left as it is. Answers how many are new. */
export const applyTransactions = async (
  trx: Trx,
  account: GatewayAccountRow,
  entries: readonly BalanceEntry[],
): Promise<number> => {
  if (entries.length === 0) return 0
  const rows = await store(trx, account, entries)
  await writeFees(
    trx,
    rows.map((row) => row.id),
  )
  // A dispute that is not known here is read first, so that its transaction has something to be about.
  const unknown = rows.filter((row) => row.kind === 'dispute' && row.subjectId === null && row.sourceRef !== null)
  for (const { tenantId, sourceRef } of unknown)
    await enqueue(
      trx,
      readDispute,
      { tenantId, gatewayAccountId: account.id, reference: sourceRef ?? '' },
      { gate: gateOf(account), uniqueKey: `import-${sourceRef}` },
    )
  const timeZone = await zoneOfBook(trx, account.bookId)
  await raiseDocumentPostings(
    trx,
    account.bookId,
    rows.flatMap((row) => postingsOf(row, timeZone)),
  )
  return rows.length
}

/** Ends an import: what it found to differ is asked again, and the days that are still open are reconciled. */
export const endImport = async (trx: Trx, account: GatewayAccountRow, startedAt: Date): Promise<void> => {
  await tieTransactions(trx, account)
  await askAgain(trx, account, new Date(startedAt.getTime() - 35 * day))
  await sql(
    trx,
    `update gateway_account set imported_at = greatest(imported_at, ?), ${forgotten}, next_import_at = case when status = 'failed' then null
       when ended_at < now() - interval '30 days' then null else now() + interval '1 hour' end where id = ?`,
    [startedAt, account.id],
  )
  const days = await sql<{ id: string }>(
    trx,
    `insert into reconciliation (gateway_account_id, date)
     select :id::uuid, d::date from generate_series((now() at time zone 'utc')::date - 3, (now() at time zone 'utc')::date - 1, interval '1 day') d
     where d::date >= (select created_at::date from gateway_account where id = :id)
     on conflict (tenant_id, gateway_account_id, date) do update set updated_at = now() where reconciliation.status <> 'balanced' or reconciliation.provisional
     returning id`,
    { id: account.id },
  )
  const asked = await sql<{ id: string }>(
    trx,
    `select id from reconciliation where gateway_account_id = ? and (status = 'running' or (status = 'exceptions' and date > current_date - 35))`,
    [account.id],
  )
  for (const id of new Set([...days, ...asked].map((row) => row.id)))
    await enqueue(trx, reconcileDay, { tenantId: account.tenantId, reconciliationId: id }, { uniqueKey: id })
}

/** Asks for an import of an account; one waits at a time. */
export const requestImport = (trx: Trx, account: Pick<GatewayAccountRow, 'tenantId' | 'id' | 'provider'>, at?: Date) =>
  enqueue(
    trx,
    importBalance,
    { tenantId: account.tenantId, gatewayAccountId: account.id },
    { uniqueKey: account.id, gate: gateOf(account), at },
  )

/** Takes an account whose import is due off the schedule for ten minutes; null where another sweep has. */
export const takeImport = (trx: Trx, id: string): Promise<GatewayAccountRow | null> =>
  sqlOne<GatewayAccountRow>(
    trx,
    `update gateway_account set next_import_at = now() + interval '10 minutes' where id = ? and next_import_at <= now() returning *`,
    [id],
  )
