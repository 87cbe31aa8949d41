import { createHash, createHmac } from 'node:crypto'
import { required, settings } from '../../../config/env.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx } from '../../lib/connection.ts'

type Entry = Record<string, unknown> & {
  id: string
  seq: number | null
  hash: Buffer | null
  previousHash: Buffer | null
}

/** The text that a hash covers: every column but those of the chain, as PostgreSQL writes them. */
const content = `e.id::text as id, e.chain, e.tenant_id::text as tenant_id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
  e.actor_type, e.actor_id::text as actor_id, e.support_session_id::text as support_session_id, e.action, e.subject_type, e.subject_id, e.reason,
  e.changes::text as changes, e.request_id, e.job_id::text as job_id, e.address`
const fields = [
  'id', 'chain', 'tenantId', 'at', 'actorType', 'actorId', 'supportSessionId', 'action', 'subjectType', 'subjectId', 'reason', 'changes',
  'requestId', 'jobId', 'address',
] as const // oxfmt-ignore

/** SHA-256 of the hash before and of the entry, as JSON with its fields in one order. */
export const hashOf = (previous: Buffer, entry: Record<string, unknown>): Buffer =>
  createHash('sha256')
    .update(previous)
    .update(JSON.stringify(fields.map((field) => entry[field] ?? null)))
    .digest()

/** Chains that have entries without a hash. */
export const unchained = async (trx: PlatformTrx): Promise<string[]> =>
  (await sql<{ chain: string }>(trx, `select chain from audit_unchained(500)`)).map(({ chain }) => chain)

/** Entries that one transaction links. */
export const linkedAtOnce = 5_000

/**
 * Links the next entries of a chain, in the order of their time among those whose transactions are over: one of a transaction that still runs waits, and so
 * does all that is younger. Another worker at the same chain is waited for. Answers how many there were.
 */
export const linkChain = async (trx: PlatformTrx, chain: string): Promise<number> => {
  await sql(trx, `insert into audit_chain (chain) values (?) on conflict (chain) do nothing`, [chain])
  const head = await sqlOne<{ seq: number; hash: Buffer }>(
    trx,
    `select seq, hash from audit_chain where chain = ? for update`,
    [chain],
  )
  if (!head) throw new Error(`the chain ${chain} has no head`)
  // A transaction that began to write before the oldest that still runs has ended: nothing older than its entries comes any more.
  const entries = await sql<Entry>(
    trx,
    `select ${content} from audit_entry e where e.chain = ? and e.hash is null
       and age(e.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)
     order by e.at, e.id limit ${linkedAtOnce}`,
    [chain],
  )
  if (entries.length === 0) return 0
  let previous = head.hash
  const linked = entries.map((entry, index) => {
    const hash = hashOf(previous, entry)
    const row = {
      id: entry.id,
      at: entry.at,
      seq: head.seq + index + 1,
      previous: previous.toString('hex'),
      hash: hash.toString('hex'),
    }
    previous = hash
    return row
  })
  await sql(
    trx,
    `update audit_entry e set seq = l.seq, previous_hash = decode(l.previous, 'hex'), hash = decode(l.hash, 'hex')
     from jsonb_to_recordset(?::jsonb) as l (id uuid, at timestamptz, seq bigint, previous text, hash text)
     where e.id = l.id and e.at = l.at and e.hash is null`,
    [JSON.stringify(linked)],
  )
  await sql(trx, `update audit_chain set seq = ?, hash = ?, chained_at = now() where chain = ?`, [
    head.seq + linked.length,
    previous,
    chain,
  ])
  return linked.length
}

export type ChainCheck = { chain: string; problem: string | null; through: number }

const checkedAtOnce = 5_000

/**
 * Computes a chain anew, from its first entry that is younger than `days`, or from the beginning, and writes what was found: an entry that was changed,
 * removed or put in between, or an end that is not the head's.
 */
export const verifyChain = async (trx: PlatformTrx, chain: string, days: number | null): Promise<ChainCheck> => {
  const head = await sqlOne<{ seq: number; hash: Buffer }>(
    trx,
    `select seq, hash from audit_chain where chain = ? for update`,
    [chain],
  )
  if (!head) return { chain, problem: null, through: 0 }
  const first = await sqlOne<{ seq: number; previousHash: Buffer }>(
    trx,
    `select seq, previous_hash from audit_entry where chain = ? and hash is not null
       and (?::int is null or at > now() - make_interval(days => ?)) order by seq limit 1`,
    [chain, days, days],
  )
  // Partitions that are past their time are dropped: a chain begins with what is left of it.
  const start = first ? { seq: first.seq, hash: first.previousHash } : { seq: head.seq + 1, hash: head.hash }
  const problem = await walk(trx, chain, head, start)
  await sql(trx, `update audit_chain set verified_at = now(), verified_through = ?, problem = ? where chain = ?`, [
    problem === null ? head.seq : start.seq - 1,
    problem,
    chain,
  ])
  return { chain, problem, through: head.seq }
}

type Link = { seq: number; hash: Buffer }

const walk = async (trx: PlatformTrx, chain: string, head: Link, start: Link): Promise<string | null> => {
  let expected = start.seq
  let previous = start.hash
  for (;;) {
    const rows = await sql<Entry>(
      trx,
      `select ${content}, e.seq, e.hash, e.previous_hash from audit_entry e where e.chain = ? and e.hash is not null and e.seq >= ?
       order by e.seq, e.id limit ${checkedAtOnce}`,
      [chain, expected],
    )
    for (const row of rows) {
      if (row.seq !== expected)
        return Number(row.seq) < expected
          ? `a second entry has the place ${row.seq}`
          : `the entry at place ${expected} is missing`
      if (!row.previousHash?.equals(previous)) return `the entry at place ${expected} does not follow the one before it`
      const hash = hashOf(previous, row)
      if (!row.hash?.equals(hash)) return `the entry at place ${expected} was changed`
      previous = hash
      expected += 1
    }
    if (rows.length < checkedAtOnce) break
  }
  if (expected !== head.seq + 1) return `the chain ends at place ${expected - 1} instead of ${head.seq}`
  return previous.equals(head.hash) ? null : 'the last entry is not that of the head'
}

/** All chains there are, by name, some at a time. */
export const chainsAfter = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ chain: string }>(trx, `select chain from audit_chain where chain > ? order by chain limit ?`, [after, most])

/** The heads of all chains under one signature, for a log that is kept elsewhere. */
export const signHeads = async (trx: PlatformTrx): Promise<{ chains: number; digest: string; signature: string }> => {
  const heads = await sql<{ chain: string; seq: number; hash: string }>(
    trx,
    `select chain, seq, encode(hash, 'hex') as hash from audit_chain order by chain`,
  )
  const digest = createHash('sha256').update(JSON.stringify(heads)).digest('hex')
  const signature = createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY'))
    .update(`audit heads|${digest}`)
    .digest('hex')
  return { chains: heads.length, digest, signature }
}

/** The state of the audit trail, for the health report. */
export const trailHealth = async (trx: PlatformTrx) => {
  const row = await sqlOne<{
    chainedThrough: Date | null
    waitingSeconds: number
    lastVerifiedAt: Date | null
    problems: number
  }>(
    trx,
    `select (select max(chained_at) from audit_chain) as chained_through,
       coalesce((select extract(epoch from now() - min(at)) from (select at from audit_entry where hash is null order by chain, at limit 1000) w), 0)::int as waiting_seconds,
       (select max(verified_at) from audit_chain) as last_verified_at, (select count(*) from audit_chain where problem is not null) as problems`,
  )
  return {
    chainedThrough: row?.chainedThrough ?? null,
    waitingSeconds: row?.waitingSeconds ?? 0,
    lastVerifiedAt: row?.lastVerifiedAt ?? null,
    ok: (row?.problems ?? 0) === 0,
  }
}
