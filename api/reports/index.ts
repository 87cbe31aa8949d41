import { routes as list } from './list.ts'
import { routes as runs } from './runs.ts'
import { routes as statements } from './statements.ts'

export const routes = [...list, ...statements, ...runs]
