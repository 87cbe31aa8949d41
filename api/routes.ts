import type { AnyRoute } from './lib/route.ts'

/** Every endpoint of the service. */
export const routes: readonly AnyRoute[] = []
