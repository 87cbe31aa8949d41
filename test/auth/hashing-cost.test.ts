import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hash } from '@node-rs/argon2'
import { settings } from '../../config/env.ts'
import { hashPassword, isOutdated } from '../../db/auth/hashing.ts'
import { sql } from '../../db/lib/connection.ts'
import { built } from '../support/built.ts'
import { useWorld } from '../support/world.ts'
import { hashAsInProduction } from './hashing-work.ts'
import { makeUser, password, signIn } from './support.ts'

const production = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/

describe('the cost of hashing a password', () => {
  const world = useWorld()
  hashAsInProduction()

  it('is that of production, and a hash of another cost is renewed at the next sign-in', async () => {
    const person = await makeUser()
    const { passwordHash, pepperId } = await hashPassword(password)
    expect(passwordHash).to.match(production)
    expect(isOutdated({ passwordHash, pepperId })).to.equal(false)
    const weak = passwordHash.replace(production, '$argon2id$v=19$m=8,t=1,p=1$')
    expect(isOutdated({ passwordHash: weak, pepperId })).to.equal(true)
    const peppered = createHmac('sha256', settings.peppers[0]?.key ?? '')
      .update(password)
      .digest('base64url')
    const old = await hash(peppered, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    await sql(world.database.admin, `update app_user set password_hash = ? where id = ?`, [old, person.userId])
    await signIn(world, person)
    const [row] = await sql<{ passwordHash: string }>(
      world.database.admin,
      `select password_hash from app_user where id = ?`,
      [person.userId],
    )
    expect(row?.passwordHash).to.match(production)
  })

  describe('as a setting', () => {
    const start = async (environment: Record<string, string>): Promise<string> => {
      const file = JSON.stringify(join(await built(), 'config/env.js'))
      const script = `const { settings } = await import(${file})
        console.log(settings.passwordMemoryKib, settings.passwordPasses)`
      const options = { env: { ...process.env, ...environment }, timeout: 60_000 }
      return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options).then(
        ({ stdout }) => stdout.trim(),
        (error: Error) => error.message,
      )
    }

    it('is by itself that of production, and may be higher there', async () => {
      expect(await start({ NODE_ENV: 'production' })).to.equal('19456 2')
      const higher = { PASSWORD_MEMORY_KIB: '65536', PASSWORD_PASSES: '3' }
      expect(await start({ NODE_ENV: 'production', ...higher })).to.equal('65536 3')
    })

    it('is less in tests alone: elsewhere the start ends with the name of the setting', async () => {
      expect(await start({ NODE_ENV: 'test', PASSWORD_MEMORY_KIB: '8', PASSWORD_PASSES: '1' })).to.equal('8 1')
      for (const environment of ['production', 'development']) {
        const memory = await start({ NODE_ENV: environment, PASSWORD_MEMORY_KIB: '19455' })
        expect(memory).to.include('PASSWORD_MEMORY_KIB: must be a whole number from 19456')
        const passes = await start({ NODE_ENV: environment, PASSWORD_PASSES: '1' })
        expect(passes).to.include('PASSWORD_PASSES: must be a whole number from 2')
      }
    })
  })
})
