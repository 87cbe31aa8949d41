import { createHash } from 'node:crypto'
import { personalData } from '../../../config/personal-data.ts'
import type { Basis, PersonalTable } from '../../../config/personal-data.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { blockersOf } from './doors.ts'
import type { Blocker } from './doors.ts'

export type PlanItem = { table: string; erase: number; keep: number; basis: Basis | null; until: string | null }
export type Plan = { blockers: Blocker[]; items: PlanItem[]; hash: string }

/** Tables with rows about guests, in the order in which an erasure goes through them. */
export const erasable: readonly (PersonalTable & { guests: string })[] = personalData.flatMap((one) =>
  one.guests === undefined ? [] : [{ ...one, guests: one.guests }],
)

/** Condition on the rows of a table that an erasure changes; null where it keeps them all. */
export const erasedRows = ({
  erasure,
  guests,
  only,
  set,
  columns,
}: PersonalTable & { guests: string }): string | null => {
  if (erasure === 'keep until') return null
  const narrowed = `${guests}${only === undefined ? '' : ` and ${only}`}`
  if (erasure !== 'null') return narrowed
  // Rows that were emptied before are done: a step that runs again finds none.
  const changes = Object.entries(set ?? Object.fromEntries(Object.keys(columns).map((column) => [column, 'null'])))
  return `${narrowed} and (${changes.map(([column, value]) => `t.${column} is distinct from ${value}`).join(' or ')})`
}

const countOf = async (trx: Trx, one: (typeof erasable)[number], ids: readonly string[]): Promise<PlanItem> => {
  const erased = erasedRows(one)
  const counted = await sqlOne<{ erase: number; whole: number }>(
    trx,
    `select count(*) filter (where ${erased ?? 'false'}) as erase, count(*) as whole from ${one.table} t where ${one.guests}`,
    { ids },
  )
  const { erase, whole } = counted ?? { erase: 0, whole: 0 }
  // Rows that have nothing of the person in them are neither erased nor kept for a reason.
  const isKept = one.erasure === 'keep until' || one.only !== undefined
  const keep = isKept ? whole - erase : 0
  return {
    table: one.table,
    erase,
    keep,
    basis: keep > 0 ? one.basis : null,
    until: keep > 0 ? (one.until ?? null) : null,
  }
}

/** The plan of an erasure as of now: what would go, what stays and why, and what stands in the way (R20). */
export const planOf = async (trx: Trx, guestIds: readonly string[]): Promise<Plan> => {
  const blockers = (await blockersOf(trx, guestIds)).toSorted((a, b) =>
    `${a.code} ${a.message}` < `${b.code} ${b.message}` ? -1 : 1,
  )
  const items = (await Promise.all(erasable.map((one) => countOf(trx, one, guestIds)))).filter(
    ({ erase, keep }) => erase + keep > 0,
  )
  const hash = createHash('sha256').update(JSON.stringify({ blockers, items })).digest('hex')
  return { blockers, items, hash }
}
