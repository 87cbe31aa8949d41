import { randomInt } from 'node:crypto'
import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Actor, PlatformTrx } from '../connection.ts'

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
  /** How often it was closed since its last success. */
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

/** Opens a gate at once, as an operator does who knows better than its timer. False where it was open. */
export const openGate = async (trx: PlatformTrx, gate: string): Promise<boolean> => {
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
/** What a 429 without Retry-After asks for, the first time. */
const busyCloseMs = 2_000
/** A probe that nothing was heard of for so long was lost; another may go. */
export const probeMs = 60_000

/** What a call says of its account. `busy`: it asks to be left alone (429). `down`: no answer, or one that says that it does not work. */
export type GateSign = 'up' | 'busy' | 'down'

/**
 * Writes what a call said of its account. Busy closes the gate for as long as was asked; the fifth failure in a row, and a failed
 * probe, close it for longer each time. A success opens it. Answers how long it is closed for, or null where it is open.
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
  const isClosing = sign === 'busy' || failures >= failuresToClose || now?.state === 'closed'
  const closures = now?.closures ?? 0
  const doubled = (sign === 'busy' ? busyCloseMs : firstCloseMs) * 2 ** Math.min(closures, 10)
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

/**
 * Whether a job may call its account now. A closed gate whose time is over lets one job through, which this one becomes where none is
 * under way: what it hears opens or closes the gate.
 */
export const mayPass = async (trx: PlatformTrx, gate: string, jobId: string): Promise<boolean> => {
  const row = await sqlOne<{ state: string }>(trx, `select state from provider_gate where gate = ?`, [gate])
  if (row?.state !== 'closed') return true
  const probe = await sqlOne(
    trx,
    `update provider_gate set probe_job_id = :jobId, probe_until = clock_timestamp() + make_interval(secs => :probeMs / 1000.0)
     where gate = :gate and (state = 'open' or (closed_until <= clock_timestamp()
       and (probe_job_id is null or probe_job_id = :jobId or probe_until < clock_timestamp()))) returning gate`,
    { gate, jobId, probeMs },
  )
  return probe !== null
}

/** What a pause is of: a whole queue; or a kind, a tenant or a provider, in one queue or in all. */
export type PauseOf = {
  queue?: string | undefined
  kind?: string | undefined
  tenantId?: string | undefined
  provider?: string | undefined
}
export type Pause = {
  id: string
  scope: 'queue' | 'kind' | 'tenant' | 'provider'
  queue: string | null
  kind: string | null
  tenantId: string | null
  provider: string | null
  until: Date | null
  reason: string
  actor: Actor
  createdAt: Date
}

const scopeOf = ({ queue, kind, tenantId, provider }: PauseOf) => {
  const given = [kind, tenantId, provider].filter((each) => each !== undefined).length
  if (given > 1 || (given === 0 && queue === undefined)) throw new TypeError('a pause is of one thing')
  return kind ? 'kind' : tenantId ? 'tenant' : provider ? 'provider' : 'queue'
}

const pauseColumns = 'id, scope, queue, kind, tenant_id, provider, until, reason, actor, created_at'
export const inForce = `paused and (until is null or until > now())`

/** The pauses in force, newest first. */
export const listPauses = (trx: PlatformTrx): Promise<Pause[]> =>
  sql<Pause>(trx, `select ${pauseColumns} from queue_control where ${inForce} order by created_at desc, id`)

/** Nothing of it starts from now on: relay and workers obey within five seconds. A pause that stands gets the new reason and end. */
export const pause = async (
  trx: PlatformTrx,
  of: PauseOf,
  { reason, until = null }: { reason: string; until?: Date | null },
): Promise<Pause> => {
  const row = await sqlOne<Pause>(
    trx,
    `insert into queue_control (scope, queue, kind, tenant_id, provider, reason, until, actor)
     values (:scope, :queue, :kind, :tenantId, :provider, :reason, :until, :actor)
     on conflict (scope, coalesce(queue, ''), coalesce(kind, ''), coalesce(tenant_id::text, ''), coalesce(provider, ''))
     do update set paused = true, reason = excluded.reason, until = excluded.until, actor = excluded.actor, created_at = now()
     returning ${pauseColumns}`,
    {
      scope: scopeOf(of),
      queue: of.queue ?? null,
      kind: of.kind ?? null,
      tenantId: of.tenantId ?? null,
      provider: of.provider ?? null,
      reason,
      until,
      actor: JSON.stringify(contextOf(trx).actor),
    },
  )
  if (!row) throw new Error('the pause was not written')
  return row
}

/** Ends exactly this pause; wider and narrower ones stand. Null where there was none in force. */
export const resume = async (trx: PlatformTrx, of: PauseOf): Promise<Pause | null> => {
  const rows = await sql<Pause & { inForce: boolean }>(
    trx,
    `delete from queue_control where scope = :scope and queue is not distinct from :queue and kind is not distinct from :kind
       and tenant_id is not distinct from :tenantId::uuid and provider is not distinct from :provider
     returning ${pauseColumns}, ${inForce} as in_force`,
    {
      scope: scopeOf(of),
      queue: of.queue ?? null,
      kind: of.kind ?? null,
      tenantId: of.tenantId ?? null,
      provider: of.provider ?? null,
    },
  )
  return rows.find((row) => row.inForce) ?? null
}
