import type { AnyRoute } from '../lib/route.ts'
import { routes as accounts } from './accounts.ts'
import { routes as movements } from './movements.ts'
import { routes as pix } from './pix.ts'
import { routes as pixSettings } from './pix-settings.ts'
import { routes as position } from './position.ts'
import { routes as sessions } from './sessions.ts'
import { routes as statementLines } from './statement-lines.ts'
import { routes as statements } from './statements.ts'
import { routes as transfers } from './transfers.ts'

export const routes: AnyRoute[] = [
  ...accounts,
  ...movements,
  ...transfers,
  ...sessions,
  ...position,
  ...statements,
  ...statementLines,
  ...pix,
  ...pixSettings,
]
