import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { mailedToken } from '../../config/derived-secrets.ts'
import { hashPassword } from '../../db/auth/hashing.ts'
import { createUser } from '../../db/auth/users.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { mailUser, noticeUser } from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { deliverAll, useMailPeer } from '../support/messages.ts'

describe('mail to staff', () => {
  useDatabase()
  const mail = useMailPeer()

  const person = async (locale: string) => {
    const id = randomUUID()
    const hash = await hashPassword('a long enough passphrase')
    await inPlatform((trx) =>
      createUser(trx, {
        id,
        email: `user-${id.slice(0, 8)}@house.example`,
        name: 'Rita',
        locale,
        hash,
      }),
    )
    return id
  }
  const token = async (userId: string, minutes: number) => {
    const id = randomUUID()
    await inPlatform((trx) =>
      sql(
        trx,
        `insert into one_time_token (id, purpose, user_id, expires_at) values (?, 'password_reset', ?, now() + make_interval(mins => ?))`,
        [id, userId, minutes],
      ),
    )
    return id
  }

  it('comes once per occurrence, in the language of its reader, with a token that is stored nowhere', async () => {
    const userId = await person('pt-BR')
    const tokenId = await token(userId, 30)
    await Promise.all(
      Array.from({ length: 10 }, () => inPlatform((trx) => mailUser(trx, userId, 'password_reset', tokenId))),
    )
    const jobs = await inPlatform((trx) =>
      sql<{ payload: object }>(trx, `select payload from jobs where kind = 'messages.send-user-mail'`),
    )
    expect(jobs).to.have.length(1)
    expect(JSON.stringify(jobs)).not.to.contain('rst_')
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    const [letter] = mail.peer.mails
    expect(letter?.subject).to.equal('Defina uma nova senha')
    expect(letter?.text).to.contain(mailedToken('password_reset', tokenId))
    expect(
      await inPlatform((trx) => sql(trx, `select status from user_mail where reference_id = ?`, [tokenId])),
    ).to.deep.equal([{ status: 'sent' }])
  })

  it('is not sent once its token has ended', async () => {
    const userId = await person('en')
    const tokenId = await token(userId, -1)
    await inPlatform((trx) => mailUser(trx, userId, 'password_reset', tokenId))
    await deliverAll()
    expect(mail.peer.mails).to.deep.equal([])
    expect(
      await inPlatform((trx) => sql(trx, `select status from user_mail where reference_id = ?`, [tokenId])),
    ).to.deep.equal([{ status: 'failed' }])
  })

  it('about security says what was done, when and from where, in the language of its reader', async () => {
    const address = '203.0.113.7'
    for (const [locale, act, from] of [
      ['en', 'your password was changed', `From: ${address}`],
      ['pt-BR', 'sua senha foi alterada', `De: ${address}`],
      ['es', 'se cambió su contraseña', `Desde: ${address}`],
    ] as const) {
      mail.peer.mails.splice(0)
      const userId = await person(locale)
      await inPlatform((trx) => noticeUser(trx, userId, 'password_changed'), { address })
      await deliverAll()
      const text = mail.peer.mails[0]?.text ?? ''
      expect(text).to.contain(act).and.to.contain(from)
      expect(text).to.contain(String(new Date().getUTCFullYear())).and.to.contain('(UTC)')
    }
  })

  it('about an act of an administrator does not tell their address', async () => {
    const userId = await person('en')
    await inPlatform((trx) => noticeUser(trx, userId, 'mfa_reset'), { address: '203.0.113.8' })
    await deliverAll()
    expect(mail.peer.mails[0]?.text).to.contain('administrator').and.not.to.contain('203.0.113.8')
  })

  it('is repeated under one Message-ID until the server says that it has it', async () => {
    const userId = await person('en')
    mail.peer.behave('close after data')
    await inPlatform((trx) => mailUser(trx, userId, 'security_notice', randomUUID()))
    const { drain } = await import('../support/drain.ts')
    await drain({ kinds: ['messages.send-user-mail'], deliveries: 2 })
    mail.peer.behave('accept')
    await inPlatform((trx) => sql(trx, `update jobs set status = 'pending', run_at = now()`))
    await deliverAll()
    expect(mail.peer.mails.length).to.be.greaterThan(1)
    expect(new Set(mail.peer.mails.map((one) => one.messageId)).size).to.equal(1)
  })
})
