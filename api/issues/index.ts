import type { AnyRoute } from '../lib/route.ts'
import { routes as attachments } from './attachments.ts'
import { routes as categories } from './categories.ts'
import { routes as compensations } from './compensations.ts'
import { routes as issues } from './issues.ts'
import { routes as lostItems } from './lost-items.ts'
import { routes as satisfaction } from './satisfaction.ts'
import { routes as summary } from './summary.ts'

export const routes: AnyRoute[] = [
  ...summary,
  ...categories,
  ...compensations,
  ...lostItems,
  ...attachments,
  ...issues,
  ...satisfaction,
]
