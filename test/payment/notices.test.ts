import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { seal } from '../../db/lib/sealing/index.ts'
import { applyPayout, importCall, keepImport } from '../../db/payment/index.ts'
import { evidencePlace } from '../../db/payment/disputes/commands.ts'
import { applyDisputeSnapshot } from '../../db/payment/disputes/snapshot.ts'
import { applyAccountSnapshot } from '../../db/payment/gateway-accounts/snapshot.ts'
import { sumOf } from '../../db/payment/notices.ts'
import type { GatewayAccountRow } from '../../db/rows.ts'
import { eraseCallbackBodies, importBalance } from '../../jobs/payment.ts'
import { stripe } from '../../workers/gateways/stripe/index.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useMailPeer } from '../support/messages.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('What the gateway says of money that needs people', () => {
  const world = useWorld()
  const mail = useMailPeer()
  let house: House

  before(async () => {
    house = await makeHouse({ units: 2 })
    for (const role of ['owner', 'finance', 'receptionist']) await openDesk(world, house, role)
  })

  const accountRow = () =>
    house.inHouse(async (trx) => {
      const row = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [
        house.gatewayAccountId,
      ])
      if (!row) throw new Error('no account')
      return row
    })
  const subjects = async () => {
    await world.drain({ kinds: ['messages.send-user-mail'] })
    return mail.peer.mails.map((one) => one.subject)
  }

  const dispute = async () => {
    const bookingId = await makeHold(house, { from: 9 })
    const paymentId = await startPayment(house, bookingId, 'all')
    await gatewaySays(house, paymentId, 'captured')
    const { ref } = await house.inHouse(
      async (trx) =>
        (await sqlOne<{ ref: string }>(trx, `select external_id as ref from payment where id = ?`, [paymentId])) ?? {
          ref: '',
        },
    )
    const snapshot = {
      externalId: `dp_${randomUUID().slice(0, 8)}`,
      paymentRef: ref,
      phase: 'dispute',
      status: 'needs_response',
      amount: 40_000,
      currency: 'BRL',
      reason: 'fraudulent',
      responseDueAt: new Date('2027-01-15T12:00:00Z'),
      openedAt: new Date(),
    } as const
    for (const _ of [1, 2]) await house.inHouse((trx) => applyDisputeSnapshot(trx, house.gatewayAccountId, snapshot))
    return snapshot
  }

  it('is mailed to owner and finance, once: a dispute, a payout that failed, an account that is restricted', async () => {
    await dispute()
    const opened = await subjects()
    expect(opened).to.have.length(2)
    for (const one of opened) expect(one).to.match(/is disputed: BRL 400\.00$/)
    expect(mail.peer.mails[0]?.text).to.include('until 2027-01-15')

    const account = await accountRow()
    const payout = {
      externalId: 'po_1',
      amount: 6_377,
      currency: 'BRL',
      arrivesOn: null,
      complete: false,
      failure: null,
    }
    for (const status of ['in_transit', 'failed', 'failed'] as const)
      await house.inHouse((trx) => applyPayout(trx, account, { ...payout, status, createdAt: new Date() }))
    expect((await subjects()).slice(2)).to.have.length(2)
    expect(mail.peer.mails.at(-1)?.subject).to.match(/failed: BRL 63\.77$/)

    const said = {
      externalId: account.externalId ?? '',
      detailsSubmitted: true,
      chargesEnabled: true,
      payoutsEnabled: false,
      capabilities: { card: 'active', pix: 'active', boleto: 'active' },
      requirements: [{ code: 'bank_account', dueAt: null }],
      balance: null,
    } as const
    for (const _ of [1, 2])
      await house.inHouse((trx) =>
        applyAccountSnapshot(trx, account.id, { ...said, requirements: [...said.requirements] }),
      )
    expect((await subjects()).slice(4)).to.have.length(2)
    expect(mail.peer.mails.at(-1)?.subject).to.include('is restricted')
  })

  it('in its sums has the digits of its currency', () => {
    expect([sumOf(123_450, 'BRL'), sumOf(5, 'USD'), sumOf(-90, 'EUR'), sumOf(1_200, 'JPY')]).to.deep.equal([
      'BRL 1234.50',
      'USD 0.05',
      'EUR -0.90',
      'JPY 1200',
    ])
  })

  it('keeps what was written of the guest until 90 days after the decision', async () => {
    const { externalId } = await dispute()
    const set = (columns: string) =>
      house.inHouse((trx) => sql(trx, `update dispute set ${columns} where external_id = ?`, [externalId]))
    const [row] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from dispute where external_id = ?`, [externalId]),
    )
    const sealed = await house.inHouse((trx) =>
      seal(trx, 'tenant', evidencePlace(row?.id ?? ''), { explanation: 'Ana was here' }),
    )
    await house.inHouse((trx) => sql(trx, `update dispute set evidence = ? where id = ?`, [sealed, row?.id]))
    const erase = async () => {
      await inPlatform((trx) => enqueue(trx, eraseCallbackBodies, {}))
      await world.drain({ kinds: ['privacy.erase-callback-bodies'] })
      const [now] = await house.inHouse((trx) =>
        sql<{ isKept: boolean }>(trx, `select evidence is not null as is_kept from dispute where id = ?`, [row?.id]),
      )
      return now?.isKept
    }
    expect(await erase()).to.equal(true)
    await set(`status = 'lost', closed_at = now() - interval '89 days'`)
    expect(await erase()).to.equal(true)
    await set(`closed_at = now() - interval '91 days'`)
    expect(await erase()).to.equal(false)
  })

  it('is read to the end of a list that one start cannot read, and again from its beginning where the gateway refuses to go on', async () => {
    const account = await accountRow()
    const asked: (string | null)[] = []
    const own = { ...stripe }
    const entry = (n: number) => ({
      externalId: `txn_long_${n}`,
      kind: 'adjustment' as const,
      gross: 1,
      fee: 0,
      platformFee: 0,
      net: 1,
      currency: 'BRL',
      occurredAt: new Date(),
      availableAt: new Date(),
      source: null,
    })
    const last = 450
    let refuses: string | null = null
    Object.assign(stripe, {
      transactions: (_ref: string, _since: Date, cursor: string | null) => {
        asked.push(cursor)
        if (refuses !== null && cursor === refuses)
          return Promise.resolve({ kind: 'refused', code: 'resource_missing', message: 'gone' })
        const page = cursor === null ? 0 : Number(cursor)
        const hasMore = page < last
        const next = hasMore ? String(page + 1) : null
        return Promise.resolve({ kind: 'known', snapshot: { entries: [entry(page)], hasMore, next } })
      },
      payouts: () => Promise.resolve({ kind: 'known', snapshot: [] }),
    })
    const { admin } = world.database
    const { settings } = await import('../../config/env.ts')
    const before = settings.stripe
    settings.stripe = { ...before, secretKey: 'sk_test_x', publishableKey: 'pk_test_x' }
    await admin.raw(`alter table gateway_account disable trigger user`)
    await house.inHouse((trx) => sql(trx, `update gateway_account set provider = 'stripe' where id = ?`, [account.id]))
    const run = async () => {
      await house.inHouse((trx) =>
        enqueue(trx, importBalance, { tenantId: house.tenantId, gatewayAccountId: account.id }),
      )
      await world.drain({ kinds: ['payments.import-balance'] })
    }
    try {
      await run()
      expect(new Set(asked).size).to.equal(last + 1)
      expect(asked).to.have.length(last + 1)
      const [count] = await house.inHouse((trx) =>
        sql<{ count: number }>(
          trx,
          `select count(*)::int as count from balance_transaction where external_id like 'txn_long_%'`,
        ),
      )
      expect(count?.count).to.equal(last + 1)
      const done = await accountRow()
      expect([done.importCursor, done.importStartedAt]).to.deep.equal([null, null])
      expect(done.importedAt).to.be.instanceOf(Date)

      // Cut off in the middle: it goes on from there.
      const call = await house.inHouse((trx) => importCall(trx, account.id))
      if (!call) throw new Error('no import')
      await house.inHouse((trx) => keepImport(trx, call, '400'))
      asked.length = 0
      await run()
      expect(asked[0]).to.equal('400')
      expect(asked).to.have.length(51)

      // The gateway does not know the place any more: a new import begins at the beginning, soon.
      await house.inHouse((trx) => keepImport(trx, call, '410'))
      refuses = '410'
      await run()
      const refused = await accountRow()
      expect(refused.importCursor).to.equal(null)
      expect(refused.nextImportAt?.getTime()).to.be.lessThan(Date.now() + 3 * 60_000)
      asked.length = 0
      refuses = null
      await run()
      expect(asked[0]).to.equal(null)
      expect(asked).to.have.length(last + 1)
    } finally {
      Object.assign(stripe, own)
      settings.stripe = before
      await house.inHouse((trx) =>
        sql(trx, `update gateway_account set provider = 'sandbox' where id = ?`, [account.id]),
      )
      await admin.raw(`alter table gateway_account enable trigger user`)
    }
  }).timeout(120_000)
})
