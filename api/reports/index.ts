import { routes as list } from './list.ts'
import { routes as operating } from './operating.ts'
import { routes as runs } from './runs.ts'
import { routes as schedules } from './schedules.ts'
import { routes as statements } from './statements.ts'

export const routes = [...list, ...statements, ...operating, ...runs, ...schedules]
