import { routes as apiKeys } from './api-keys.ts'
import { routes as email } from './email.ts'
import { routes as invitations } from './invitations.ts'
import { routes as me } from './me.ts'
import { routes as mfa } from './mfa.ts'
import { routes as password } from './password.ts'
import { routes as reauthenticate } from './reauthenticate.ts'
import { routes as refresh } from './refresh.ts'
import { routes as roles } from './roles.ts'
import { routes as sessions } from './sessions.ts'
import { routes as signIn } from './sign-in.ts'
import { routes as totp } from './totp.ts'
import { routes as users } from './users.ts'

export const routes = [
  ...signIn,
  ...mfa,
  ...reauthenticate,
  ...refresh,
  ...sessions,
  ...me,
  ...password,
  ...email,
  ...totp,
  ...invitations,
  ...users,
  ...roles,
  ...apiKeys,
]
