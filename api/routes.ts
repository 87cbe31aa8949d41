import type { AnyRoute } from './lib/route.ts'
import { routes as publicProperty } from './public/property.ts'
import { routes as publicQuotes } from './public/quotes.ts'

/** Every endpoint of the service. */
export const routes: readonly AnyRoute[] = [...publicProperty, ...publicQuotes]
