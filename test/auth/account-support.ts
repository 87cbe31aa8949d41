import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { mailedToken } from '../../config/derived-secrets.ts'
import { sql } from '../../db/lib/connection.ts'
import type { World } from '../support/world.ts'
import type { Person } from './support.ts'

/** Actions that tests of accounts repeat. */
export const accountsOf = (world: World) => {
  const me = (token: string) => world.request('GET', '/api/auth/me', { token })
  const post = (path: string, body: unknown, token?: string) =>
    world.request('POST', `/api/auth/${path}`, { body, ...(token === undefined ? {} : { token }) })
  const answer = async (reply: ReturnType<typeof post>) => {
    const { status, body } = await reply
    return [status, body.code]
  }
  const enter = (email: string, secret: string) => post('sign-in/email', { email, password: secret })
  const mails = async ({ userId }: Person) =>
    (
      await sql<{ kind: string }>(
        world.database.admin,
        `select kind from user_mail where user_id = ? order by created_at, kind`,
        [userId],
      )
    ).map(({ kind }) => kind)
  // As the worker derives it.
  const mailed = async (purpose: 'password_reset' | 'email_change', { userId }: Person) => {
    const [row] = await sql<{ id: string }>(
      world.database.admin,
      `select id from one_time_token where purpose = ? and user_id = ? and used_at is null`,
      [purpose, userId],
    )
    return mailedToken(purpose, row?.id ?? randomUUID())
  }
  const forgot = async (person: Person) => {
    expect((await post('password/forgot', { email: person.email.toUpperCase() })).body).to.deep.equal({
      accepted: true,
    })
    await world.drain()
    return mailed('password_reset', person)
  }
  const reasons = async ({ userId }: Person) =>
    (
      await sql<{ reason: string | null }>(
        world.database.admin,
        `select revoke_reason as reason from session where user_id = ? order by created_at`,
        [userId],
      )
    ).map(({ reason }) => reason)
  return { me, post, answer, enter, mails, mailed, forgot, reasons }
}
