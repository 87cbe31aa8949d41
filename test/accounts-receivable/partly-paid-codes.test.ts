import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { chargesOfReceivables } from '../../db/accounts-receivable/index.ts'
import { openPix } from '../cash/pix-desk.ts'
import { cnpj } from '../financial/accountant.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'

describe('Pix codes of an invoice that is sent', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('ask for what is open, and not for what was before a part came another way', async () => {
    const a = await openPix(world)
    await a.connect()
    const path = 'accounts-receivable'
    const post = (to: string, body: object) =>
      a.finance.send('POST', `${path}/${to}`, body, { idempotencyKey: randomUUID() })
    const customer = {
      kind: 'company',
      legalName: 'Firma',
      currency: 'BRL',
      document: cnpj(),
      email: 'a@firma.example',
    }
    const { id: customerId } = done(await post('customers', customer), 201)
    const [income] = await a.rows<{ id: string }>(
      `select id from account where tenant_id = :tenantId and code = '4.3.08'`,
    )
    const made = await post('receivables', {
      customerId,
      lines: [{ description: 'Hall', unitAmount: 3_000, accountId: income?.id }],
      installments: [
        { dueOn: a.house.day(10), amount: 1_000 },
        { dueOn: a.house.day(20), amount: 2_000 },
      ],
      issue: true,
    })
    const { id, installments } = done(made, 201)
    await world.drain()
    done(await post(`receivables/${id}/send`, { channels: ['email'], withPix: true }))
    await world.drain()
    const coded = async () =>
      (await a.house.inHouse((trx) => chargesOfReceivables.codes(trx, id))).map(({ installmentId }) => installmentId)
    const [first, second] = [installments[0].id, installments[1].id]
    expect(await coded()).to.deep.equal([first, second])
    const receipt = {
      customerId,
      cashAccountId: a.bankId,
      method: 'bank',
      amount: 400,
      receivedOn: a.house.today,
      allocations: [{ installmentId: first }],
    }
    done(await post('receipts', receipt), 201)
    expect(await coded()).to.deep.equal([second])
  })
})
