import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { readUserMail } from '../../db/ocp/user-mail.ts'
import { useWorld } from '../support/world.ts'
import { accountsOf } from './account-support.ts'
import { forgetLimits, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'
import type { Person } from './support.ts'

const fresh = 'mar azul e vento norte'

describe('an account', () => {
  const world = useWorld({ keepsLimits: true })
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
  })

  const { me, post, answer, enter, mailed, forgot, reasons } = accountsOf(world)
  const longAgo = () =>
    sql(world.database.admin, `update session set reauthenticated_at = now() - interval '11 minutes'`)

  it('takes another name and language, of its owner alone, and nothing else', async () => {
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'stock' }))
    const change = (body: unknown) => world.request('PATCH', '/api/auth/me', { token, body })
    const { status, body } = await change({ name: 'Zoë', locale: 'pt-BR' })
    expect([status, body.name, body.locale]).to.deep.equal([200, 'Zoë', 'pt-BR'])
    expect((await change({})).body.name).to.equal('Zoë')
    for (const bad of [{ email: 'x@y.example' }, { name: '' }, { locale: 'Portuguese' }, { status: 'active' }])
      expect((await change(bad)).status).to.equal(400)
    expect((await me(token)).body.name).to.equal('Zoë')
  })

  describe('its address changed', () => {
    const read = async ({ userId }: Person, kind: string) => {
      const [row] = await sql<{ id: string }>(
        world.database.admin,
        `select id from user_mail where user_id = ? and kind = ?`,
        [userId, kind],
      )
      return inPlatform((trx) => readUserMail(trx, row?.id ?? ''))
    }

    it('is proven by a mail to the new one; the old one is told before and after, and all sessions end', async () => {
      const person = await makeUser()
      const { token } = await signIn(world, person)
      const email = newEmail('Other')
      const reset = await forgot(person)
      expect((await post('email/change', { email }, token)).body).to.deep.equal({ accepted: true })
      expect((await me(token)).body.email).to.equal(person.email)
      const link = await mailed('email_change', person)
      const [toNew, toOld] = [await read(person, 'email_change'), await read(person, 'email_notice')]
      expect([toNew?.to, toOld?.to]).to.deep.equal([email, person.email])
      expect([toNew?.text.includes(link), toOld?.text.includes(link)]).to.deep.equal([true, false])
      expect((await post('email/confirm', { token: link })).body).to.deep.equal({ email })
      const told = await read(person, 'security_notice')
      expect(told?.to).to.equal(person.email)
      expect(told?.text).to.contain('e-mail address was changed').and.to.contain('From: 127.0.0.1')
      expect(await reasons(person)).to.deep.equal(['email'])
      expect((await me(token)).status).to.equal(401)
      expect(await answer(post('email/confirm', { token: link }))).to.deep.equal([401, 'token_invalid'])
      expect((await answer(post('password/reset', { token: reset, newPassword: fresh })))[0]).to.equal(401)
      expect([(await enter(person.email, password)).status, (await enter(email, password)).status]).to.deep.equal([
        401, 200,
      ])
    })

    it('does not tell that somebody has it before that is proven: 409 then, and nothing changed', async () => {
      const [person, other] = [await makeUser(), await makeUser()]
      const { token } = await signIn(world, person)
      const known = await post('email/change', { email: other.email.toUpperCase() }, token)
      expect([known.status, known.body]).to.deep.equal([200, { accepted: true }])
      const link = await mailed('email_change', person)
      expect(await answer(post('email/confirm', { token: link }))).to.deep.equal([409, 'email_taken'])
      expect((await me(token)).body.email).to.equal(person.email)
    })

    it('needs a fresh proof of identity, and is asked for five times an hour at most', async () => {
      const { token } = await signIn(world, await makeUser())
      for (let n = 0; n < 5; n += 1)
        expect((await post('email/change', { email: newEmail('next') }, token)).status).to.equal(200)
      expect(await answer(post('email/change', { email: newEmail('next') }, token))).to.deep.equal([
        429,
        'rate_limited',
      ])
      await longAgo()
      await world.redis.flushall()
      expect(await answer(post('email/change', { email: newEmail('next') }, token))).to.deep.equal([
        403,
        'reauthentication_required',
      ])
    })
  })
})
