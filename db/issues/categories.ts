import { unprocessable } from '../../config/errors.ts'
import { boundTenant } from '../lib/bound-tenant.ts'
import type { IssueHours, IssueKind, IssueTeam, Targets } from '../../config/issues.ts'
import type { LocalText } from '../../config/local-text.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { IssueCategory } from './models.ts'

export type Category = Awaited<ReturnType<typeof readCategory>>
export type NewCategory = {
  code: string
  name: LocalText
  kind: IssueKind
  team: IssueTeam
  targets: Targets
  hours?: IssueHours | undefined
  guestFacing?: boolean | undefined
  autoApproveLimit?: number | undefined
  managerLimit?: number | undefined
  active?: boolean | undefined
}

const mostCategories = 60

export const readCategory = (trx: Trx, id: string) => readRow(trx, IssueCategory, id)

export const listCategories = pageOf(IssueCategory, {
  order: ['code', 'id'],
  filters: { active: equal('active'), kind: equal('kind'), team: equal('team') },
  sorts: { code: 'code', createdAt: 'createdAt' },
  scope: { propertyId: null },
})

/** Adds a category; a tenant has at most 60. 409 `duplicate_code`. */
export const createCategory = async (trx: Trx, category: NewCategory): Promise<string> => {
  // One after another, so that two of them do not pass the limit together.
  await sqlOne(trx, `select 1 from tenant where id = ${boundTenant} for no key update`)
  const counted = await sqlOne<{ count: number }>(trx, `select count(*) as count from issue_category`)
  if ((counted?.count ?? 0) >= mostCategories)
    throw unprocessable('too_many', `A tenant has at most ${mostCategories} categories of issues`)
  return (await insertRow(trx, IssueCategory, category)).id
}

export type CategoryChange = { [Field in keyof Omit<NewCategory, 'code'>]?: NewCategory[Field] | undefined }

/** Changes a category; issues that are open keep their deadlines. */
export const changeCategory = async (trx: Trx, id: string, change: CategoryChange): Promise<void> => {
  await changeRow(trx, IssueCategory, id, change)
}

/** A category that new issues may have. 422 `category_inactive`, `reference_not_found`. */
export const usableCategory = async (trx: Trx, id: string): Promise<Category> => {
  const found = await sqlOne<{ active: boolean }>(trx, `select active from issue_category where id = ? for key share`, [
    id,
  ])
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such category', [
      { field: 'categoryId', message: 'is no category of the tenant' },
    ])
  if (!found.active)
    throw unprocessable('category_inactive', 'The category is not in use', [
      { field: 'categoryId', message: 'must be an active category' },
    ])
  return readCategory(trx, id)
}
