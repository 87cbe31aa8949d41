import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('a bill with withholdings, paid in parts', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('is approved by another person, collected, settled, aged and reversed to the cent (story S3)', async () => {
    const a = await openPayables(world)
    const { bookId, finance, owner, good, refused, on, account } = a
    const bankId = await a.bank(1_000_000, on('01-01'))
    const withheld = await account('2.1.3.07')
    const code = (name: string, rate: number) =>
      good(finance, 'POST', 'financial/tax-codes', {
        bookId,
        kind: 'withheld_from_suppliers',
        code: name,
        name,
        liabilityAccountId: withheld,
        rate,
        validFrom: on('01-01'),
        payeeName: 'Receita Federal',
        dueDay: 20,
      }).then(({ id }) => id as string)
    const [irrf, csrf] = [await code('IRRF', 15_000), await code('CSRF', 46_500)]
    const { id: supplierId } = await a.supplier()
    const body = {
      bookId,
      supplierId,
      kind: 'bill',
      number: '1001',
      issuedOn: on('03-10'),
      lines: [
        { description: 'Maintenance', accountId: await account('6.4.03'), amount: 700_000 },
        { description: 'Software', accountId: await account('6.2.01'), amount: 300_000 },
      ],
      withholdings: [{ taxCodeId: irrf }, { taxCodeId: csrf }],
      installments: [
        { dueOn: on('04-10'), amount: 469_250 },
        { dueOn: on('05-10'), amount: 469_250 },
      ],
      submit: true,
    }
    const made = await good(finance, 'POST', 'accounts-payable/payables', body)
    expect(made).to.include({ status: 'awaiting_approval', gross: 1_000_000, withheld: 61_500, net: 938_500 })
    expect(made.withholdings.map(({ amount }: Parsed) => amount).sort()).to.deep.equal([15_000, 46_500])
    const one = `accounts-payable/payables/${made.id}`
    expect(await refused(finance, 'POST', `${one}/approve`, {})).to.deep.equal([403, 'self_approval'])
    expect(await good(owner, 'POST', `${one}/approve`, {})).to.include({ status: 'approved', open: 938_500 })
    const [status, twin] = await a.send(finance, 'POST', 'accounts-payable/payables', { ...body, number: '1001' })
    expect([status, twin.code]).to.deep.equal([409, 'duplicate_payable'])
    expect(JSON.stringify(twin.errors)).to.include(made.id)

    await world.drain()
    const { data: drafts } = await good(
      finance,
      'GET',
      `accounts-payable/payables?bookId=${bookId}&kind=tax&sort=gross`,
    )
    expect(
      drafts.map(({ gross, issuedOn, dueOn, source, status: state }: Parsed) => [
        gross,
        issuedOn,
        dueOn,
        source,
        state,
      ]),
    ).to.deep.equal([
      [15_000, on('03-31'), on('04-20'), 'withholding', 'draft'],
      [46_500, on('03-31'), on('04-20'), 'withholding', 'draft'],
    ])
    await good(finance, 'POST', `accounts-payable/payables/${drafts[0].id}/submit`, {})
    await good(owner, 'POST', `accounts-payable/payables/${drafts[0].id}/approve`, {})
    expect(await refused(finance, 'POST', `${one}/void`, { reason: 'Too late' })).to.deep.equal([
      422,
      'withholding_collected',
    ])

    const [first, second] = (await a.read(made.id)).installments as Parsed[]
    const pay = (payOn: string, item: object) =>
      good(finance, 'POST', 'accounts-payable/payments', {
        method: 'manual',
        cashAccountId: bankId,
        payOn,
        items: [{ installmentId: first.id, ...item }],
      })
    const paid = await pay(on('04-15'), { principal: 200_000, interest: 1_333, fine: 4_000 })
    expect(paid).to.include({ status: 'paid', total: 205_333 })
    const rest = await pay(on('04-30'), { principal: 269_250, discount: 1_250 })
    expect(rest.items[0]).to.include({ cash: 268_000, status: 'paid' })
    expect(second.open).to.equal(469_250)

    const tax = (asOf: string) => a.ageing(asOf, null)
    expect(await a.ageing(on('04-12'), supplierId)).to.deep.equal({ notDue: 469_250, d1to30: 469_250 })
    expect(await a.ageing(on('04-30'), supplierId)).to.deep.equal({ notDue: 469_250 })
    expect(await a.ageing(on('06-30'), supplierId)).to.deep.equal({ d31to60: 469_250 })
    expect([await tax(on('04-12')), await tax(on('04-30')), await tax(on('06-30'))]).to.deep.equal([
      { notDue: 15_000 },
      { d1to30: 15_000 },
      { d61to90: 15_000 },
    ])

    const back = await good(finance, 'POST', `accounts-payable/payments/${rest.id}/void`, {
      reason: 'The bank returned it',
      on: on('05-05'),
    })
    expect(back).to.include({ status: 'void' })
    expect(await a.ageing(on('04-30'), supplierId)).to.deep.equal({ notDue: 469_250 })
    expect(await a.ageing(on('05-05'), supplierId)).to.deep.equal({ notDue: 469_250, d1to30: 269_250 })

    await world.drain()
    expect(await a.moved(on('01-01'), on('06-30'))).to.deep.equal([2_758_833, 2_758_833])
    const balances = await a.balances(on('01-01'), on('06-30'))
    expect(Object.fromEntries(Object.entries(balances).filter(([, value]) => value !== 0))).to.deep.equal({
      '1.1.2.01': 794_667,
      '2.1.1.01': -753_500,
      '2.1.3.07': -46_500,
      '3.9.01': -1_000_000,
      '6.2.01': 300_000,
      '6.4.03': 700_000,
      '8.1': 5_333,
    })
    const statement = await good(
      finance,
      'GET',
      `accounts-payable/suppliers/${supplierId}/statement?bookId=${bookId}&from=${on('01-01')}&to=${on('06-30')}`,
    )
    expect(statement.entries.map(({ balance }: Parsed) => balance)).to.deep.equal([938_500, 738_500, 469_250, 738_500])
    expect(statement).to.include({ opening: 0, closing: 738_500 })
    expect(statement.open.map(({ open }: Parsed) => open)).to.deep.equal([269_250, 469_250])
    expect(await a.failing()).to.deep.equal([])
  })
})
