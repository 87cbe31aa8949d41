import { issueHours, usualTargets } from '../../config/issues.ts'
import { Bool, Int, LocalName, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { changeCategory, createCategory, listCategories, readCategory } from '../../db/issues/index.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { CategoryCode, Kind, path, Team } from './schemas.ts'

/** Minutes, in the hours of the category. */
const Target = Obj({ firstResponseMinutes: Int(5, 10_080), resolutionMinutes: Int(15, 43_200) })
const Targets = Obj({ urgent: Target, high: Target, normal: Target, low: Target }, { title: 'IssueTargets' })
const Limit = Int(0, 1_000_000_000)
/** Fields that a new category states, and those that have a value without being sent. */
const stated = { name: LocalName, kind: Kind, team: Team }
const usual = {
  targets: Targets,
  /** The clocks of new issues run around the clock, or in `issues.businessHours` of the house without its holidays. */
  hours: OneOf([...issueHours]),
  /** Guests are told that it is known, and asked how it was handled. */
  guestFacing: Bool,
  /** Minor units of adjustments of one issue that need no approval. */
  autoApproveLimit: Limit,
  /** Minor units of adjustments of one issue that managers may approve. */
  managerLimit: Limit,
  /** An inactive category is not offered; its issues stay. */
  active: Bool,
}

const categories = resource({
  name: 'issueCategories',
  subject: 'IssueCategory',
  table: 'issue_category',
  path: `${path}/categories`,
  param: 'issueCategoryId',
  record: Obj({ id: Uuid, code: CategoryCode, ...stated, ...usual, ...stamps }, { title: 'IssueCategory' }),
  read: readCategory,
})

const list = categories.list({
  summary: 'List categories with their targets',
  query: { active: Opt(Bool), kind: Opt(Kind), team: Opt(Team) },
  sort: { by: ['code', 'createdAt'], usual: 'code' },
  example: { active: true },
  find: ({ trx, filter }) => listCategories(trx, filter),
})

const create = categories.create({
  summary: 'Create a category',
  description: 'Targets that are left out are the usual ones. A tenant has at most 60 categories.',
  errors: ['duplicate_code', 'too_many'],
  body: Obj({ code: CategoryCode, ...stated, ...Sparse(Obj(usual)).properties }),
  example: { code: 'pool_area', name: { en: 'Pool', 'pt-BR': 'Piscina' }, kind: 'maintenance', team: 'maintenance' },
  command: ({ trx, body }) => createCategory(trx, { targets: usualTargets, ...body }),
})

const change = categories.change({
  summary: 'Change targets, team, limits or switch of a category',
  description: 'Open issues keep their deadlines until their priority or category changes.',
  body: Sparse(Obj({ ...stated, ...usual })),
  example: { autoApproveLimit: 5_000, active: true },
  command: ({ trx, id, body }) => changeCategory(trx, id, body),
})

export const routes = [list, create, change]
