import { Email, Obj, Text, Uuid } from '../../config/schema.ts'
import type { SignedIn } from '../../db/auth/index.ts'
import { accessToken } from './session-token.ts'

export const SignedInUser = Obj(
  { id: Uuid, email: Email, name: Text(1, 120), role: Text(1, 40) },
  { title: 'SignedInUser' },
)

/** Reply of a sign-in, with or without a second factor. */
export const signedInReply = async ({ user: { id, email, name }, role, session }: SignedIn) => ({
  token: await accessToken({ sessionId: session.id, userId: id, ...session }),
  user: { id, email, name, role },
})
