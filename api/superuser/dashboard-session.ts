import type { IncomingMessage } from 'node:http'
import { unavailable } from '../../config/errors.ts'

type SignIn = { email: string; password: string; code: string | null; requestId: string }

/** Checks an operator's sign-in and opens a session of kind dashboard. Answers what the cookie holds. */
export const signInToDashboard = async (_message: IncomingMessage, _given: SignIn): Promise<{ cookie: string }> => {
  throw unavailable('Sign-in is not available')
}

/** The operator whose live session a cookie names, or null. */
export const dashboardSession = async (_cookie: string): Promise<{ email: string } | null> => null

export const endDashboardSession = async (_cookie: string, _requestId: string): Promise<void> => {}
