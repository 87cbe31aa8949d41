import { randomInt } from 'node:crypto'
import { sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'

/** One account that jobs call, or `kind:<name>` for the rate of a kind. What comes before the first colon is its provider. */
export type Gate = {
  gate: string
  provider: string
  tenantId: string | null
  state: 'open' | 'closed'
  closedAt: Date | null
  /** From this instant on one job at a time may try whether the account answers again. */
  closedUntil: Date | null
  reason: string | null
  /** Failures in a row. */
  failures: number
  /** The number of closures since its last success. */
  closures: number
  probeJobId: string | null
  probeUntil: Date | null
  ratePerSecond: number | null
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  updatedAt: Date
}

const columns = `gate, provider, tenant_id, state, closed_at, closed_until, reason, failures, closures, probe_job_id, probe_until,
  rate_per_second, last_success_at, last_failure_at, updated_at`

export const providerOf = (gate: string): string => gate.split(':', 1)[0] ?? gate
export const kindGate = (kind: string): string => `kind:${kind}`

/** All gates that were ever used or set, closed ones first. */
export const listGates = (trx: PlatformTrx, limit = 500): Promise<Gate[]> =>
  sql<Gate>(trx, `select ${columns} from provider_gate order by state, provider, gate limit ?`, [limit])

export const readGate = (trx: PlatformTrx, gate: string): Promise<Gate | null> =>
  sqlOne<Gate>(trx, `select ${columns} from provider_gate where gate = ?`, [gate])

/** At most so many jobs a second go through the gate (an account, or `kindGate(kind)`); null: as many as there are. */
export const setGateRate = async (trx: PlatformTrx, gate: string, ratePerSecond: number | null): Promise<void> => {
  await sql(
    trx,
    `insert into provider_gate (gate, provider, rate_per_second, milli_tokens) values (:gate, :provider, :rate::int, coalesce(:rate::int, 0) * 1000)
     on conflict (gate) do update set rate_per_second = excluded.rate_per_second, milli_tokens = excluded.milli_tokens, tokens_at = clock_timestamp(),
       updated_at = now()`,
    { gate, provider: providerOf(gate), rate: ratePerSecond },
  )
}

/** Opens a gate at once, on an operator's word, or where what it stood for is another by now; a tenant its own. False if it was open. */
export const openGate = async (trx: AnyTrx, gate: string): Promise<boolean> => {
  const rows = await sql(
    trx,
    `update provider_gate set state = 'open', closed_at = null, closed_until = null, reason = null, failures = 0, closures = 0,
       probe_job_id = null, probe_until = null, updated_at = now() where gate = ? and state = 'closed' returning gate`,
    [gate],
  )
  return rows.length > 0
}

/** So many failures in a row close a gate. */
export const failuresToClose = 5
const firstCloseMs = 5_000
const longestCloseMs = 300_000
/** First wait after a 429 without Retry-After. */
const busyCloseMs = 2_000
/** First wait after refused credentials: many tries in a row may lock the account. */
const credentialsCloseMs = 30_000
const firstCloses: Record<Exclude<GateSign, 'up'>, number> = {
  busy: busyCloseMs,
  down: firstCloseMs,
  credentials: credentialsCloseMs,
}
/** Time after which a silent probe is taken for lost, and another may go. */
export const probeMs = 60_000

/**
 * The sign that a call gives of its account. `busy`: it asks for a pause (429). `down`: no answer, or one that reports a fault. `credentials`: it
 * refuses ours, which only an operator can mend.
 */
export type GateSign = 'up' | 'busy' | 'down' | 'credentials'

/** Reason of a gate whose account refuses our credentials. */
export const credentialsRefused = 'credentials_refused'

/**
 * Writes what a call said of its account. Busy closes the gate for as long as was asked, and refused credentials close it at once; the fifth
 * failure in a row, and a failed probe, close it for longer each time. A success opens it. Answers how long it is closed for, or null where it is open.
 */
export const reportCall = async (
  trx: PlatformTrx,
  gate: string,
  sign: GateSign,
  { tenantId, reason, afterMs = 0 }: { tenantId: string | null; reason: string; afterMs?: number | undefined },
): Promise<number | null> => {
  if (sign === 'up') {
    await sql(
      trx,
      `insert into provider_gate (gate, provider, tenant_id, last_success_at) values (:gate, :provider, :tenantId, clock_timestamp())
       on conflict (gate) do update set state = 'open', closed_at = null, closed_until = null, reason = null, failures = 0, closures = 0,
         probe_job_id = null, probe_until = null, last_success_at = clock_timestamp(), updated_at = now()`,
      { gate, provider: providerOf(gate), tenantId },
    )
    return null
  }
  await sql(
    trx,
    `insert into provider_gate (gate, provider, tenant_id) values (?, ?, ?) on conflict (gate) do nothing`,
    [gate, providerOf(gate), tenantId],
  )
  const now = await sqlOne<{ failures: number; closures: number; state: string; wait: number }>(
    trx,
    `select failures, closures, state, greatest(0, extract(epoch from closed_until - clock_timestamp()) * 1000)::float8 as wait
     from provider_gate where gate = ? for update`,
    [gate],
  )
  const failures = (now?.failures ?? 0) + 1
  const isClosing = sign !== 'down' || failures >= failuresToClose || now?.state === 'closed'
  const closures = now?.closures ?? 0
  const doubled = firstCloses[sign] * 2 ** Math.min(closures, 10)
  // Those of several processes that were under way when it closed do not each double the time.
  const stands = (now?.wait ?? 0) > 0
  const ms = stands
    ? Math.max(now?.wait ?? 0, afterMs)
    : Math.max(afterMs, Math.min(longestCloseMs, doubled) * (0.75 + randomInt(250) / 1000))
  await sql(
    trx,
    `update provider_gate set failures = :failures, last_failure_at = clock_timestamp(), updated_at = now(),
       state = case when :isClosing::boolean then 'closed' else state end,
       closed_at = case when :isClosing::boolean then coalesce(closed_at, clock_timestamp()) else closed_at end,
       closed_until = case when :isClosing::boolean then clock_timestamp() + make_interval(secs => :ms::float8 / 1000) else closed_until end,
       reason = case when :isClosing::boolean then :reason else reason end,
       closures = closures + case when :isClosing::boolean and not :stands::boolean then 1 else 0 end,
       probe_job_id = null, probe_until = null
     where gate = :gate`,
    { gate, failures, isClosing, stands, ms, reason: reason.slice(0, 200) },
  )
  return isClosing ? ms : null
}

/** A condition of SQL on `provider_gate`: the time of a closed gate is over, and no job is trying it. */
export const isProbeDue = `(closed_until <= clock_timestamp() and (probe_job_id is null or probe_until < clock_timestamp()))`

/** A condition of SQL: a pause is in force for what these expressions name. */
export const pausedIn = (of: { queue: string; kind: string; tenantId: string; gate: string }) => `exists (
  select from queue_control c where c.paused and (c.until is null or c.until > now()) and (c.queue is null or c.queue = ${of.queue})
    and (c.scope = 'queue' or (c.scope = 'kind' and c.kind = ${of.kind}) or (c.scope = 'tenant' and c.tenant_id = ${of.tenantId})
      or (c.scope = 'provider' and c.provider = split_part(${of.gate}, ':', 1))))`

/** The gate of a job as it stands, and whether anything has failed behind it since its last success. */
export type GateSeen = { gateState: 'open' | 'closed'; isGateFailing: boolean; isPaused: boolean }

/** Columns of `GateSeen` for a statement on `jobs`. */
export const gateSeen = `, coalesce((select state from provider_gate g where g.gate = jobs.gate), 'open') as gate_state,
  exists (select from provider_gate g where g.gate = jobs.gate and (g.failures > 0 or g.state = 'closed')) as is_gate_failing,
  ${pausedIn({ queue: 'jobs.queue', kind: 'jobs.kind', tenantId: 'jobs.tenant_id', gate: 'jobs.gate' })} as is_paused`

/**
 * Tells whether a job may call its account now. A closed gate whose time is over lets one job through, and this job becomes it where none is
 * under way: what it hears opens or closes the gate.
 */
export const mayPass = async (
  trx: PlatformTrx,
  { id, gate, gateState, isPaused }: { id: string; gate: string } & GateSeen,
): Promise<'open' | 'probe' | 'closed'> => {
  if (isPaused) return 'closed'
  if (gateState === 'open') return 'open'
  const probe = await sqlOne<{ state: string }>(
    trx,
    `update provider_gate set probe_job_id = case when state = 'closed' then :id::uuid end,
       probe_until = case when state = 'closed' then clock_timestamp() + make_interval(secs => :probeMs / 1000.0) end
     where gate = :gate and (state = 'open' or probe_job_id = :id::uuid
       or ${isProbeDue}) returning state`,
    { gate, id, probeMs },
  )
  return probe === null ? 'closed' : probe.state === 'open' ? 'open' : 'probe'
}

/** The job that was to try a closed gate ended without a word of it: another may. */
export const releaseProbe = (trx: PlatformTrx, { id, gate }: { id: string; gate: string }) =>
  sql(trx, `update provider_gate set probe_job_id = null, probe_until = null where gate = ? and probe_job_id = ?`, [
    gate,
    id,
  ])

/** Thousandths of a token that a gate with a rate has now, a second of them at most; columns of `provider_gate`, under an alias where one is given. */
export const milliTokensNow = (alias = '') => {
  const of = alias === '' ? '' : `${alias}.`
  return `least(${of}rate_per_second * 1000,
    ${of}milli_tokens + ${of}rate_per_second * extract(epoch from clock_timestamp() - ${of}tokens_at) * 1000)`
}

/** The number of jobs that each of these keys lets through now, locked. Only keys with a rate, and closed gates whose probe is due, are answered. */
export const tokensOf = async (trx: PlatformTrx, keys: readonly string[]): Promise<Map<string, number>> => {
  if (keys.length === 0) return new Map()
  const rows = await sql<{ gate: string; tokens: number }>(
    trx,
    `select gate, least(
         case when state = 'open' then 2147483647
           when ${isProbeDue} then 1 else 0 end,
         case when rate_per_second is null then 2147483647 else floor(${milliTokensNow()} / 1000) end)::int as tokens
     from provider_gate where gate = any(?) and (rate_per_second is not null or state = 'closed') order by gate for update`,
    [[...new Set(keys)]],
  )
  return new Map(rows.map(({ gate, tokens }) => [gate, tokens]))
}

/** Takes what was used of the tokens; the job that goes through a closed gate is its probe. */
export const spendTokens = async (
  trx: PlatformTrx,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  jobs: readonly { id: string; gate: string }[],
): Promise<void> => {
  const used = [...after].flatMap(([gate, tokens]) => {
    const count = (before.get(gate) ?? tokens) - tokens
    return count > 0 ? [{ gate, count, jobId: jobs.find((job) => job.gate === gate)?.id ?? null }] : []
  })
  if (used.length === 0) return
  await sql(
    trx,
    `update provider_gate set tokens_at = clock_timestamp(),
       milli_tokens = case when rate_per_second is null then 0 else ${milliTokensNow()}::int - used.count * 1000 end,
       probe_job_id = case when state = 'closed' then used."jobId" end,
       probe_until = case when state = 'closed' then clock_timestamp() + make_interval(secs => :probeMs / 1000.0) end
     from jsonb_to_recordset(cast(:used as jsonb)) as used (gate text, count int, "jobId" uuid) where used.gate = provider_gate.gate`,
    { used: JSON.stringify(used), probeMs },
  )
}
