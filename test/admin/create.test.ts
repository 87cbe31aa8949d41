import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { settings } from '../../config/env.ts'
import { totp } from '../../db/auth/second-factor.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeTenant, newEmail } from '../auth/support.ts'
import { built } from '../support/built.ts'
import { useWorld } from '../support/world.ts'

const run = promisify(execFile)

const fromBase32 = (text: string): Buffer => {
  const bits = text
    .split('')
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

describe('the first superuser', () => {
  const world = useWorld()
  const create = async (given: string[], password = '') =>
    run(process.execPath, [join(await built(), 'scripts/superuser-create.js'), ...given], {
      env: { ...process.env, DATABASE_URL: settings.databaseUrl, SUPERUSER_PASSWORD: password },
    })

  it('is made on the command line, with password, authenticator and recovery codes, and may grant', async () => {
    const email = newEmail('first')
    const { stdout } = await create(['--email', email, '--name', 'The First'])
    const password = /password +(\S+)/.exec(stdout)?.[1] ?? ''
    const secret = /secret=([A-Z2-7]{32})/.exec(stdout)?.[1] ?? ''
    expect(stdout.match(/[A-Z2-7]{5}(-[A-Z2-7]{1,5}){5}/g)).to.have.length(10)
    const left = 30_000 - (Date.now() % 30_000)
    if (left < 3_000) await new Promise((resolve) => setTimeout(resolve, left + 20))
    const first = await world.request('POST', '/api/auth/sign-in/email', { body: { email, password } })
    expect([first.status, first.body.mfaRequired]).to.deep.equal([200, true])
    const code = totp(fromBase32(secret), Math.floor(Date.now() / 30_000))
    const second = await world.request('POST', '/api/auth/mfa/verify', {
      body: { mfaToken: first.body.mfaToken, code },
    })
    expect([second.status, second.body.user.role]).to.deep.equal([200, 'superuser'])
    const path = `/superuser/tenants/${await makeTenant('Starter')}/entitlements`
    const before = settings.superuserMfa
    settings.superuserMfa = 'required'
    try {
      const granted = await world.request('POST', path, {
        token: second.body.token,
        body: { key: 'pos', reason: 'a trial' },
      })
      expect(granted.status).to.equal(201)
    } finally {
      settings.superuserMfa = before
    }
    expect(
      await sql(world.database.admin, `select action from audit_entry where action = 'superuser.grant'`),
    ).to.have.length(1)
  })

  it('is not made from what is no address, no name and no level', async () => {
    for (const given of [
      [],
      ['--email', 'nobody', '--name', 'x'],
      ['--email', newEmail('a')],
      ['--email', newEmail('a'), '--name', 'x', '--level', 'N3'],
    ]) {
      expect(await failureOf(create(given))).to.include({ code: 2 })
    }
    const weak = await failureOf(create(['--email', newEmail('a'), '--name', 'x'], 'short'))
    expect(weak).to.include({ code: 1, stderr: 'Choose a password of 12 to 128 characters\n' })
    expect(await sql(world.database.admin, `select 1 from superuser_account`)).to.have.length(1)
  })
})
