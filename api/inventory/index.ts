import type { AnyRoute } from '../lib/route.ts'
import { routes as consumptions } from './consumptions.ts'
import { routes as counts } from './counts.ts'
import { routes as items } from './items.ts'
import { routes as movements } from './movements.ts'
import { routes as orders } from './orders.ts'
import { routes as outlets } from './outlets.ts'
import { routes as recipes } from './recipes.ts'
import { routes as sets } from './sets.ts'
import { routes as stock } from './stock.ts'

export const routes: AnyRoute[] = [
  ...items,
  ...sets,
  ...stock,
  ...movements,
  ...counts,
  ...recipes,
  ...consumptions,
  ...outlets,
  ...orders,
]
