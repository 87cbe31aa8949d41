import type { AnyRoute } from '../lib/route.ts'
import { routes as counts } from './counts.ts'
import { routes as items } from './items.ts'
import { routes as movements } from './movements.ts'
import { routes as sets } from './sets.ts'
import { routes as stock } from './stock.ts'

export const routes: AnyRoute[] = [...items, ...sets, ...stock, ...movements, ...counts]
