import { invalid, versionConflict } from '../../config/errors.ts'
import { usualPolicy } from '../../config/payables.ts'
import type { ApprovalBand } from '../../config/payables.ts'
import { isBuiltInRole } from '../../config/roles.ts'
import { authorOf } from '../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { insertRow } from '../lib/records.ts'
import { ApprovalPolicy } from './models.ts'

export type Policy = {
  bookId: string
  /** 0 while the book has none of its own. */
  number: number
  bands: ApprovalBand[]
  coolOffHours: number
  /** Basis points by which a bill may be dearer than its order. */
  priceTolerance: number
  createdBy: string | null
  createdAt: Date | null
}

/** The policy of a book as it stands, or one of its past versions. */
export const policyOf = async (trx: Trx, bookId: string, number: number | null = null): Promise<Policy> => {
  const found = await sqlOne<Policy>(
    trx,
    `select book_id, number, bands, cool_off_hours, price_tolerance, created_by, created_at from approval_policy
     where tenant_id = ? and book_id = ? and (cast(? as int) is null or number = cast(? as int)) order by number desc limit 1`,
    [contextOf(trx).tenantId, bookId, number, number],
  )
  return found ?? { ...usualPolicy, bookId, number: 0, createdBy: null, createdAt: null }
}

/** The band of an amount. */
export const bandOf = ({ bands }: Pick<Policy, 'bands'>, amount: number): ApprovalBand => {
  const band = bands.findLast(({ from }) => from <= amount) ?? bands[0]
  if (!band) throw new Error('a policy has a band')
  return band
}

export type PolicyChange = Pick<Policy, 'bands' | 'coolOffHours' | 'priceTolerance'>

/** Adds a version of the policy of a book. 400 for bands that do not rise from 0, or roles that there are not; 409 `version_conflict`. */
export const setPolicy = async (
  trx: Trx,
  bookId: string,
  change: PolicyChange,
  expectedVersion: number | null,
): Promise<void> => {
  const { bands } = change
  const wrong = bands.findIndex(({ from }, index) => (index === 0 ? from !== 0 : from <= (bands[index - 1]?.from ?? 0)))
  if (wrong >= 0)
    throw invalid([
      {
        field: `bands.${wrong}.from`,
        message: wrong === 0 ? 'must be 0' : 'must be more than that of the band before',
      },
    ])
  const custom = await sql<{ key: string }>(trx, `select key from role where tenant_id = ?`, [contextOf(trx).tenantId])
  const errors = bands.flatMap(({ roles, approvals }, index) => [
    ...roles
      .filter((role) => !isBuiltInRole(role) && !custom.some(({ key }) => key === role))
      .map((role) => ({ field: `bands.${index}.roles`, message: `${role} is no role` })),
    ...(approvals > 0 && roles.length === 0
      ? [{ field: `bands.${index}.roles`, message: 'names at least one role' }]
      : []),
  ])
  if (errors.length > 0) throw invalid(errors)
  // One after another, so that two of them do not take one number.
  await sqlOne(trx, `select 1 from book where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    bookId,
  ])
  const { number } = await policyOf(trx, bookId)
  if (expectedVersion !== null && expectedVersion !== number) throw versionConflict(number)
  await insertRow(trx, ApprovalPolicy, { ...change, bookId, number: number + 1, createdBy: await authorOf(trx) })
}
