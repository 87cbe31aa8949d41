import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { recordMovement, reverseMovement } from '../../db/cash/index.ts'
import { raisePosting } from '../../db/financial/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { cnabFile, ofx2File, ofxFile } from './statement-files.ts'

describe('statements of a bank', function () {
  this.timeout(180_000)
  const world = useWorld()

  const openBank = async (rules: object[] = [], opening = 100_000) => {
    const a = await openPayables(world)
    const { bookId, finance, good } = a
    const from = a.on('09-01')
    const { id: bankId } = await good(finance, 'POST', 'cash/accounts', {
      bookId,
      kind: 'bank',
      code: 'BANCO',
      name: 'Banco',
      bankCode: '341',
      number: '12345-6',
      opening: { amount: opening, on: from },
      matchRules: rules,
    })
    const send = (content: Buffer, more: object = {}) =>
      a.send(finance, 'POST', 'cash/bank-statements', {
        cashAccountId: bankId,
        format: 'ofx',
        fileName: 'extrato.ofx',
        content: content.toString('base64'),
        ...more,
      })
    const read = (id: string, query = ''): Promise<Parsed> => good(finance, 'GET', `cash/bank-statements/${id}${query}`)
    /** Sends a file and waits for what became of it. */
    const taken = async (content: Buffer, more: object = {}): Promise<Parsed> => {
      const [status, made] = await send(content, more)
      expect(status, JSON.stringify(made)).to.equal(201)
      await world.drain()
      return read(made.id)
    }
    const lines = async (query: string): Promise<Parsed[]> =>
      (await good(finance, 'GET', `cash/bank-statement-lines?${query}&limit=100`)).data
    const match = (id: string, targets: object[]) =>
      a.send(finance, 'POST', `cash/bank-statement-lines/${id}/match`, { targets })
    const step = (id: string, verb: string, body: object = {}) =>
      a.send(finance, 'POST', `cash/bank-statements/${id}/${verb}`, body)
    /** Money of a customer, as receivables book it. */
    const receipt = (amount: number, on: string, txid: string | null = null) =>
      a.house.inHouse(async (trx) => {
        const id = randomUUID()
        const booked = await recordMovement(trx, {
          cashAccountId: bankId,
          amount,
          kind: 'receipt',
          source: { type: 'receipt', id },
          description: 'Receipt',
          bookedOn: on,
          txid,
        })
        await raisePosting(trx, {
          event: 'accounts-receivable.receipt_recorded',
          source: { id },
          bookId,
          postingDate: on,
          payload: { amounts: { amount }, accounts: { money: booked.ledgerAccountId }, documents: { receipt: id } },
        })
        return booked.movementId
      })
    return { ...a, bankId, send, post: a.send, payable: a.read, read, taken, lines, match, step, receipt }
  }

  it('prove the month to the cent (story S5), and open again', async () => {
    const a = await openBank()
    const { bookId, finance, good, refused, on, bankId } = a
    const [fees, difference, other] = [await a.account('8.2'), await a.account('6.1.10'), await a.account('7.1')]
    await good(finance, 'PATCH', `cash/accounts/${bankId}`, {
      matchRules: [
        {
          name: 'Tarifas',
          when: { direction: 'out', textContains: ['tarifa'] },
          // oxlint-disable-next-line unicorn/no-thenable -- the word of the contract; its value is no function
          then: { accountId: fees },
          automatic: true,
        },
      ],
    })
    const { id: supplierId } = await a.supplier()
    const bill = await a.bill({
      supplierId,
      number: '77',
      issuedOn: on('09-02'),
      lines: [{ description: 'Frutas', accountId: await a.account('6.1.03'), amount: 25_000 }],
      installments: [{ dueOn: on('09-05'), amount: 25_000 }],
    })
    const [installment] = (await a.payable(bill.id)).installments as Parsed[]
    const paid = await good(finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: bankId,
      payOn: on('09-05'),
      items: [{ installmentId: installment?.id }],
    })
    const receipt = await a.receipt(80_000, on('09-10'))

    const september = [
      { on: on('09-05'), amount: '-250.00', id: 'A1', memo: 'PAGTO FORNECEDOR' },
      { on: on('09-10'), amount: '800.00', id: 'A2', memo: 'TED RECEBIDA' },
      { on: on('09-15'), amount: '-19.90', id: 'A3', memo: 'TARIFA PACOTE' },
      { on: on('09-20'), amount: '-100.00', id: 'A4', memo: 'SAQUE CARTÃO' },
      { on: on('09-20'), amount: '-100.00', id: 'A4', memo: 'SAQUE CARTÃO' },
    ]
    const file = ofxFile(september, { balance: '1330.10', to: on('09-30') })
    const first = await a.taken(file)
    expect(first).to.include({
      status: 'imported',
      from: on('09-05'),
      to: on('09-30'),
      openingBalance: 100_000,
      closingBalance: 133_010,
    })
    expect(first.counts).to.deep.equal({ read: 5, added: 5, known: 0, sameId: 0, leftOut: 0 })
    const [status, twin] = await a.send(file)
    expect([status, twin.code]).to.deep.equal([409, 'statement_exists'])
    expect(JSON.stringify(twin.errors)).to.include(first.id)
    const second = await a.taken(
      ofxFile([...september.slice(3), { on: on('10-02'), amount: '50.00', id: 'A5', memo: 'RENDIMENTO' }], {
        balance: '1380.10',
        to: on('10-02'),
      }),
    )
    expect(second.counts).to.deep.equal({ read: 3, added: 1, known: 2, sameId: 0, leftOut: 0 })

    const lines = await a.lines(`bankStatementId=${first.id}`)
    expect(lines.map(({ status: state }) => state)).to.deep.equal([
      'unmatched',
      'unmatched',
      'matched',
      'unmatched',
      'unmatched',
    ])
    expect(lines[3]?.text).to.equal('SAQUE CARTÃO')
    const [payment, money, , draw, again] = lines as [Parsed, Parsed, Parsed, Parsed, Parsed]
    const movement = paid.items[0].cashMovementId as string
    expect(payment.suggestions[0]).to.include({ kind: 'movement', id: movement, score: 90 })
    expect(money.suggestions[0]).to.include({ kind: 'movement', id: receipt, score: 90 })
    expect(
      await refused(finance, 'POST', `cash/bank-statement-lines/${payment.id}/match`, {
        targets: [{ cashMovementId: receipt }],
      }),
    ).to.deep.equal([422, 'match_not_equal'])
    for (const [line, id] of [
      [payment, movement],
      [money, receipt],
    ] as const)
      expect(await a.match(line.id, [{ cashMovementId: id }]).then(([code]) => code)).to.equal(200)
    expect((await good(finance, 'GET', `cash/movements/${receipt}`)).matches).to.deep.equal([
      { statementLineId: money.id, bankStatementId: first.id, amount: 80_000, made: false },
    ])

    const [early, said] = await a.step(first.id, 'reconcile')
    expect([early, said.code]).to.deep.equal([422, 'not_reconciled'])
    expect(said.errors).to.deep.include({ field: 'difference', message: '-20000' })
    for (const line of [draw, again])
      await a.match(line.id, [{ book: { accountId: difference, amount: -10_000, description: 'Saque' } }])
    expect((await a.step(second.id, 'reconcile'))[1].code).to.equal('earlier_statement_open')
    const [done, proven] = await a.step(first.id, 'reconcile')
    expect([done, proven.status]).to.deep.equal([200, 'reconciled'])
    expect(proven.reconciliation).to.include({ opening: 100_000, cleared: 33_010, closing: 133_010, difference: 0 })
    const [income] = await a.lines(`bankStatementId=${second.id}`)
    await a.match(income?.id, [{ book: { accountId: other, amount: 5_000, description: 'Rendimento' } }])
    expect((await a.step(second.id, 'reconcile'))[1].status).to.equal('reconciled')

    const voiding = `accounts-payable/payments/${paid.id}/void`
    expect(await refused(finance, 'POST', voiding, { reason: 'Wrong' })).to.deep.equal([409, 'movement_reconciled'])
    expect(await refused(finance, 'POST', `cash/bank-statement-lines/${draw.id}/unmatch`)).to.deep.equal([
      409,
      'movement_reconciled',
    ])
    expect(await refused(finance, 'DELETE', `cash/bank-statements/${first.id}`)).to.deep.equal([
      409,
      'invalid_transition',
    ])

    await world.drain()
    expect(await a.moved(on('09-01'), on('09-30'))).to.deep.equal([251_990, 251_990])
    const balances = await a.balances(on('09-01'), on('09-30'))
    expect(Object.fromEntries(Object.entries(balances).filter(([, value]) => value !== 0))).to.deep.equal({
      '1.1.2.01': 133_010,
      '2.1.5.04': -80_000,
      '3.9.01': -100_000,
      '6.1.03': 25_000,
      '6.1.10': 20_000,
      '8.2': 1_990,
    })
    const account = await good(finance, 'GET', `cash/accounts/${bankId}`)
    expect(account).to.include({ balance: 138_010, cleared: 38_010 })
    expect(account.bank).to.deep.equal({ balance: 138_010, on: on('10-02') })
    const { currencies } = await good(finance, 'GET', `cash/position?bookId=${bookId}&days=0`)
    const stated = (currencies[0].accounts as Parsed[]).map(({ id, bank }) => [id, bank])
    expect(stated).to.deep.include([bankId, account.bank])

    // Only the latest opens again; then the first, though both were proven within one second.
    const reason = { reason: 'Wrong account' }
    expect((await a.step(first.id, 'reopen', reason))[1].code).to.equal('invalid_transition')
    expect((await a.step(second.id, 'reopen', reason))[1].status).to.equal('imported')
    // The month of the first is proven; that of the second is told as it closes.
    const told = async (day: string) => {
      const { checklist } = await good(finance, 'GET', `financial/periods/${await a.periodOf(day)}`)
      return (checklist as Parsed[]).find(({ code }) => code === 'statements_unreconciled')
    }
    expect(await told(on('08-31'))).to.include({ blocking: false, passed: true })
    expect(await told(on('10-02'))).to.deep.include({ blocking: false, passed: false, sample: [second.id] })
    expect((await a.step(first.id, 'reopen', reason))[1]).to.include({
      status: 'imported',
      reopenReason: 'Wrong account',
    })
    const [taken] = (await a.lines(`bankStatementId=${first.id}`)).filter(({ id }) => id === draw.id)
    const booked = taken?.matches[0].cashMovementId as string
    expect((await good(finance, 'GET', `cash/movements/${booked}`)).matches[0]).to.include({ made: true })
    expect((await a.post(finance, 'POST', `cash/bank-statement-lines/${draw.id}/unmatch`))[1].status).to.equal(
      'unmatched',
    )
    expect((await good(finance, 'GET', `cash/movements/${booked}`)).matches).to.deep.equal([])
    expect(await good(finance, 'GET', `cash/accounts/${bankId}`)).to.include({ balance: 148_010, cleared: 48_010 })
    expect(await refused(finance, 'POST', voiding, { reason: 'Wrong' })).to.deep.equal([422, 'in_use'])
    expect(
      (await a.post(finance, 'POST', `cash/bank-statement-lines/${draw.id}/match`, { ignoreReason: 'Twice' }))[1],
    ).to.include({
      status: 'ignored',
      ignoreReason: 'Twice',
    })
    expect((await a.step(first.id, 'reconcile'))[1].errors).to.deep.include({ field: 'ignored', message: '-10000' })
    expect(bookId).not.to.equal('')
  })

  it('pay a bill through a line, and take it back', async () => {
    const a = await openBank()
    const { finance, good, on } = a
    const { id: supplierId } = await a.supplier({ legalName: 'Padaria Aurora' })
    const bill = await a.bill({
      supplierId,
      number: '12',
      issuedOn: on('09-02'),
      lines: [{ description: 'Pão', accountId: await a.account('6.1.03'), amount: 30_000 }],
      installments: [{ dueOn: on('09-20'), amount: 30_000 }],
    })
    const [installment] = (await a.payable(bill.id)).installments as Parsed[]
    const lines = [
      { on: on('09-18'), amount: '-300,00', id: 'P', memo: 'PIX PADARIA AURORA' },
      { on: on('09-18'), amount: '-315,00', id: 'Q', memo: 'PIX' },
    ]
    const statement = await a.taken(ofxFile(lines, { balance: '385,00', to: on('09-18') }))
    const [line, dearer] = await a.lines(`bankStatementId=${statement.id}`)
    expect(line?.suggestions[0]).to.include({ kind: 'payable', id: installment?.id, score: 94, amount: -30_000 })
    const both = [{ payableInstallmentId: installment?.id, interest: 1_000, fine: 500 }]
    const [status, matched] = await a.match(dearer?.id, both)
    expect([status, matched.status]).to.deep.equal([200, 'matched'])
    expect(matched.matches[0]).to.include({ amount: -31_500, made: true })
    expect((await a.payable(bill.id)).status).to.equal('paid')
    const back = await a.post(finance, 'POST', `cash/bank-statement-lines/${dearer?.id}/unmatch`, {
      reason: 'Other bill',
    })
    expect(back[1]).to.include({ status: 'unmatched' })
    expect((await a.payable(bill.id)).status).to.equal('approved')
    expect((await a.match(line?.id, [{ payableInstallmentId: installment?.id }]))[0]).to.equal(200)
    expect((await good(finance, 'GET', `cash/accounts/${a.bankId}`)).balance).to.equal(70_000)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('take back with a match the bill that its discount paid whole', async () => {
    const a = await openBank()
    const { finance, on } = a
    const { id: supplierId } = await a.supplier()
    const line = { description: 'Pão', accountId: await a.account('6.1.03') }
    const billed = (amount: number) => a.bill({ supplierId, issuedOn: on('09-02'), lines: [{ ...line, amount }] })
    const [paid, given] = [await billed(30_000), await billed(700)]
    const file = ofxFile([{ on: on('09-18'), amount: '-300,00', id: 'P', memo: 'PIX' }], {
      balance: '700,00',
      to: on('09-18'),
    })
    const statement = await a.taken(file)
    const [found] = await a.lines(`bankStatementId=${statement.id}`)
    const targets = [
      { payableInstallmentId: paid.installments[0].id },
      { payableInstallmentId: given.installments[0].id, discount: 700 },
    ]
    const statuses = async () => [(await a.payable(paid.id)).status, (await a.payable(given.id)).status]
    expect((await a.match(found?.id, targets))[0]).to.equal(200)
    expect(await statuses()).to.deep.equal(['paid', 'paid'])
    await a.good(finance, 'POST', `cash/bank-statement-lines/${found?.id}/unmatch`, { reason: 'Other bills' })
    expect(await statuses()).to.deep.equal(['approved', 'approved'])
    expect((await a.match(found?.id, targets))[0]).to.equal(200)
    expect(await statuses()).to.deep.equal(['paid', 'paid'])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('have what the charge of a line brought suggested first, and nothing that was taken back', async () => {
    const a = await openBank()
    const { on } = a
    // Money of a charge stands for its line however far apart they are booked, before what is nearer; what was taken back stands for none.
    const txid = randomUUID().replaceAll('-', '')
    const charged = await a.receipt(9_900, on('09-02'), txid)
    for (let count = 0; count < 9; count += 1) await a.receipt(9_900, on('09-18'))
    const gone = await a.receipt(9_900, on('09-18'))
    await a.house.inHouse((trx) => reverseMovement(trx, { movementId: gone, description: 'Twice' }))
    const statement = await a.taken(
      ofxFile([{ on: on('09-18'), amount: '99,00', id: 'R', memo: `PIX ${txid.toUpperCase()}` }], {
        balance: '1099,00',
        to: on('09-18'),
      }),
    )
    const [named] = await a.lines(`bankStatementId=${statement.id}`)
    expect(named?.suggestions.map(({ score }: Parsed) => score)).to.deep.equal([100, 90, 90, 90, 90])
    expect(named?.suggestions[0]).to.include({ kind: 'movement', id: charged })
    expect(named?.suggestions.map(({ id }: Parsed) => id)).not.to.include(gone)
    expect(named?.suggestions.map((one: Parsed) => one.amountDiffers)).to.deep.equal(Array(5).fill(false))

    // Money that came under the id of the line with another amount is suggested too, and marked; the rest is booked beside it.
    const other = randomUUID().replaceAll('-', '')
    const less = await a.receipt(5_000, on('09-03'), other)
    await a.house.inHouse((trx) =>
      recordMovement(trx, {
        cashAccountId: a.bankId,
        amount: -5_000,
        kind: 'receipt_refund',
        source: { type: 'receipt_refund', id: randomUUID() },
        description: 'Sent back',
        bookedOn: on('09-03'),
        txid: other,
      }),
    )
    const dearer = await a.taken(
      ofxFile([{ on: on('09-19'), amount: '50,70', id: 'S', memo: `PIX ${other}` }], {
        balance: '1149,70',
        to: on('09-19'),
      }),
    )
    const [line] = await a.lines(`bankStatementId=${dearer.id}`)
    expect(line?.suggestions).to.have.length(1)
    expect(line?.suggestions[0]).to.include({
      kind: 'movement',
      id: less,
      score: 100,
      amount: 5_000,
      amountDiffers: true,
    })
    const [alone, gap] = await a.match(line?.id, [{ cashMovementId: less }])
    expect([alone, gap.code]).to.deep.equal([422, 'match_not_equal'])
    const rest = { accountId: await a.account('7.1'), amount: 70, description: 'Interest' }
    expect((await a.match(line?.id, [{ cashMovementId: less }, { book: rest }]))[0]).to.equal(200)
  })

  it('are read in each format, encoding and notation, once', async () => {
    const a = await openBank()
    const { on } = a
    const days = { from: on('09-03'), to: on('09-04') }
    const cnab = await a.taken(
      cnabFile(
        [
          { on: on('09-03'), amount: -12_345, text: 'TARIFA' },
          { on: on('09-04'), amount: 5_000, text: 'PIX RECEBIDO' },
        ],
        { opening: 100_000, closing: 92_655, ...days },
      ),
      { format: 'cnab240', fileName: 'extrato.ret' },
    )
    expect(cnab).to.include({ status: 'imported', openingBalance: 100_000, closingBalance: 92_655, from: days.from })
    // Another format of the same days adds nothing; a day after them is new.
    const ofx = [
      { on: on('09-03'), amount: '-123.45', id: '1', memo: 'TARIFA DO PACOTE' },
      { on: on('09-05'), amount: '1.234,56', id: '2', memo: 'DEPÓSITO &amp; CIA' },
    ]
    const xml = await a.taken(ofx2File(ofx, { balance: '2161.11', to: on('09-05') }))
    expect(xml.counts).to.deep.equal({ read: 2, added: 1, known: 0, sameId: 0, leftOut: 1 })
    const [told] = await a.lines(`bankStatementId=${xml.id}`)
    expect(told).to.include({ amount: 123_456, text: 'DEPÓSITO & CIA' })
    const rows = [
      'Data;Histórico;Crédito;Débito;Doc',
      `06/09/${on('09-06').slice(0, 4)};"Compra; ""loja""";;1.000,10;7`,
      '',
    ]
    const mapping = {
      delimiter: ';',
      skipRows: 0,
      date: { column: 'Data', format: 'DD/MM/YYYY' },
      amount: { inColumn: 'Crédito', outColumn: 'Débito' },
      decimal: ',',
      textColumns: ['Histórico'],
      idColumn: 5,
    }
    const csv = { format: 'csv', fileName: 'x.csv' }
    expect((await a.send(Buffer.from('a;b'), csv))[0]).to.equal(400)
    for (const [encoding, more] of [
      ['latin1', { mapping }],
      ['utf8', {}],
    ] as const) {
      const one = await a.taken(Buffer.from(rows.join('\r\n'), encoding), { ...csv, ...more })
      expect(one.counts).to.include({ read: 1, added: encoding === 'latin1' ? 1 : 0 })
      expect(one.closingBalance).to.equal(null)
    }
    const [bought] = await a.lines(`from=${on('09-06')}&to=${on('09-06')}`)
    expect(bought).to.include({ amount: -100_010, text: 'Compra; "loja"', externalId: '7' })
    // An id that stands for something else is added, and said.
    const same = await a.taken(
      ofxFile([{ on: on('09-08'), amount: '10.00', id: '2', memo: 'OUTRO' }], { balance: '0', to: on('09-08') }),
    )
    expect(same.counts).to.include({ added: 1, sameId: 1 })
  })

  it('reject what cannot be read, or is of another account or currency, and are deleted', async () => {
    const a = await openBank()
    const { on, finance } = a
    const line = { on: on('09-03'), amount: '-1.00', id: 'x', memo: 'X' }
    const whole = ofxFile([line], { balance: '999.00', to: on('09-03') })
    const rejected = async (content: Buffer, more: object = {}) => (await a.taken(content, more)).error?.code
    expect(await rejected(whole.subarray(0, whole.length - 60))).to.equal('file_unreadable')
    expect(await rejected(ofxFile([{ ...line, amount: '1,234' }], { balance: '1', to: on('09-03') }))).to.equal(
      'file_unreadable',
    )
    expect(await rejected(ofxFile([{ ...line, on: '2026-02-30' }], { balance: '1', to: on('09-03') }))).to.equal(
      'file_unreadable',
    )
    expect(await rejected(ofxFile([line], { balance: '1', to: on('09-03'), account: '99999-1' }))).to.equal(
      'wrong_account',
    )
    expect(await rejected(ofxFile([line], { balance: '1', to: on('09-03'), account: '9912345-6' }))).to.equal(
      'wrong_account',
    )
    const other = await a.taken(ofxFile([line], { balance: '1', to: on('09-03'), bank: '001' }))
    expect(other.error).to.deep.equal({
      code: 'wrong_account',
      message: 'Line 9: the file is of bank 001, account 12345-6, not of bank 341, account 12345-6',
    })
    expect(
      await rejected(Buffer.from(whole.toString('latin1').replace('<CURDEF>BRL', '<CURDEF>USD'), 'latin1')),
    ).to.equal('currency_mismatch')
    const payments = cnabFile(
      [{ on: on('09-03'), amount: 1, text: 'X' }],
      { opening: 0, closing: 1, from: on('09-03'), to: on('09-03') },
      'J',
    )
    expect(await rejected(payments, { format: 'cnab240' })).to.equal('file_unreadable')
    const good = await a.taken(whole)
    const [kept] = await a.lines(`bankStatementId=${good.id}`)
    const reason = { ignoreReason: 'Not ours' }
    await a.post(finance, 'POST', `cash/bank-statement-lines/${kept?.id}/match`, reason)
    expect(await a.refused(finance, 'DELETE', `cash/bank-statements/${good.id}`)).to.deep.equal([422, 'in_use'])
    await a.post(finance, 'POST', `cash/bank-statement-lines/${kept?.id}/unmatch`)
    expect((await a.post(finance, 'DELETE', `cash/bank-statements/${good.id}`))[0]).to.equal(200)
    expect((await a.post(finance, 'GET', `cash/bank-statements/${good.id}`))[0]).to.equal(404)
    expect((await a.taken(whole)).counts).to.include({ added: 1 })
  })

  it('do not take the balance of another day for that of their last one', async () => {
    const a = await openBank([], 100_000)
    const { on, finance, post } = a
    const line = (day: string, amount: string) => ({ on: on(day), amount, id: day, memo: `LINE ${day}` })
    // Downloaded two days after the end, when 50.00 more had gone.
    const early = ofxFile([line('09-03', '-10.00')], { balance: '940.00', to: on('09-12'), end: on('09-10') })
    const first = await a.taken(early)
    expect(first).to.include({ to: on('09-10'), openingBalance: null, closingBalance: null })
    // Of a day within: 20.00 came after it.
    const late = ofxFile([line('09-11', '-50.00'), line('09-14', '20.00')], {
      balance: '940.00',
      to: on('09-12'),
      end: on('09-15'),
    })
    const second = await a.taken(late)
    expect(second).to.include({ to: on('09-15'), closingBalance: null })
    // Nothing moved between the balance and the end.
    const quiet = await a.taken(
      ofxFile([line('09-16', '5.00')], { balance: '965.00', to: on('09-17'), end: on('09-20') }),
    )
    expect(quiet).to.include({ to: on('09-20'), openingBalance: 96_000, closingBalance: 96_500 })
    const fees = await a.account('8.2')
    for (const { id, amount } of await a.lines(`cashAccountId=${a.bankId}`)) {
      const [status, reply] = await a.match(id, [{ book: { accountId: fees, amount, description: 'Fee' } }])
      expect(status, JSON.stringify(reply)).to.equal(200)
    }
    expect((await a.step(first.id, 'reconcile'))[1]).to.include({ code: 'validation_failed' })
    expect((await a.step(first.id, 'reconcile', { closingBalance: 99_000 }))[0]).to.equal(200)
    expect((await a.step(second.id, 'reconcile', { closingBalance: 96_000 }))[0]).to.equal(200)
    expect((await post(finance, 'POST', `cash/bank-statements/${quiet.id}/reconcile`, {}))[0]).to.equal(200)
  })

  it('are not deleted while another counts on their lines', async () => {
    const a = await openBank()
    const { on, finance, good, refused } = a
    const dated = (...days: number[]) =>
      days.map((day) => ({ on: on(`09-0${day}`), amount: `${day}.00`, id: `L${day}`, memo: `LINE ${day}` }))
    const first = await a.taken(ofxFile(dated(2, 3, 4), { balance: '1009.00', to: on('09-04') }))
    const second = await a.taken(ofxFile(dated(4, 5), { balance: '1014.00', to: on('09-05') }))
    expect(second.counts).to.include({ added: 1, known: 1 })
    const third = await a.taken(ofxFile(dated(6), { balance: '1020.00', to: on('09-06') }))
    const other = { opening: 101_400, closing: 102_000, from: on('09-06'), to: on('09-06') }
    const fourth = await a.taken(cnabFile([{ on: on('09-06'), amount: 600, text: 'LINE 6' }], other), {
      format: 'cnab240',
    })
    expect(fourth.counts).to.include({ added: 0, leftOut: 1 })
    const path = (id: string) => `cash/bank-statements/${id}`
    for (const [id, later] of [
      [first.id, second.id],
      [third.id, fourth.id],
    ]) {
      const [status, reply] = await a.post(finance, 'DELETE', path(id))
      expect([status, reply.code, reply.errors?.[0]?.message]).to.deep.equal([422, 'in_use', later])
    }
    expect(await a.lines(`cashAccountId=${a.bankId}`)).to.have.length(5)
    await good(finance, 'DELETE', path(second.id))
    await good(finance, 'DELETE', path(first.id))
    expect(await refused(finance, 'GET', path(first.id))).to.deep.equal([404, 'not_found'])
    // Sent again, the second file brings all of its lines.
    const again = await a.taken(ofxFile(dated(4, 5), { balance: '1014.00', to: on('09-05') }))
    expect(again.counts).to.include({ added: 2, known: 0 })
  })

  it('freeze what they prove, until they are opened again: then each side of a transfer is undone once', async () => {
    const a = await openBank()
    const { finance, good, refused, on } = a
    const { id: safeId } = await good(finance, 'POST', 'cash/accounts', {
      bookId: a.bookId,
      kind: 'safe',
      code: 'COFRE',
      name: 'Cofre',
    })
    const paid = await good(finance, 'POST', 'cash/movements', {
      cashAccountId: a.bankId,
      amount: -1_000,
      bookedOn: on('09-05'),
      accountId: await a.account('6.1.10'),
      description: 'Stamps',
    })
    const move = (amount: number, more: object) =>
      good(finance, 'POST', 'cash/transfers', {
        fromAccountId: a.bankId,
        toAccountId: safeId,
        method: 'manual',
        amount,
        purpose: 'Change',
        sentOn: on('09-06'),
        ...more,
      })
    const done = await move(5_000, { receivedOn: on('09-07') })
    const onItsWay = await move(700, {})
    const lines = [
      { on: on('09-05'), amount: '-10,00', id: '1', memo: 'CORREIOS' },
      { on: on('09-06'), amount: '-50,00', id: '2', memo: 'SAQUE' },
      { on: on('09-06'), amount: '-7,00', id: '3', memo: 'SAQUE' },
    ]
    const { id } = await a.taken(ofxFile(lines, { balance: '933,00', to: on('09-30') }))
    const found = await a.lines(`bankStatementId=${id}`)
    for (const line of found) {
      const [status] = await a.match(line.id as string, [{ cashMovementId: line.suggestions[0].id }])
      expect(status).to.equal(200)
    }
    expect((await a.step(id, 'reconcile'))[0]).to.equal(200)
    const undo = [`movements/${paid.id}/reverse`, ...[done, onItsWay].map((one) => `transfers/${one.id}/cancel`)]
    const reason = { reason: 'Wrong' }
    for (const path of undo)
      expect(await refused(finance, 'POST', `cash/${path}`, reason), path).to.deep.equal([409, 'movement_reconciled'])
    await a.step(id, 'reopen', reason)
    for (const path of undo)
      expect(await refused(finance, 'POST', `cash/${path}`, reason), path).to.deep.equal([422, 'in_use'])
    for (const line of found) await good(finance, 'POST', `cash/bank-statement-lines/${line.id}/unmatch`)
    await a.calm()
    for (const path of undo) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => a.post(finance, 'POST', `cash/${path}`, reason)),
      )
      expect(replies.filter(([status]) => status !== 200)).to.deep.equal([])
    }
    expect(await good(finance, 'GET', `cash/accounts/${a.bankId}`)).to.include({ balance: 100_000, cleared: 0 })
    expect(await good(finance, 'GET', `cash/accounts/${safeId}`)).to.include({ balance: 0 })
    const arrives = { receivedOn: on('09-08') }
    expect(await refused(finance, 'POST', `cash/transfers/${onItsWay.id}/confirm`, arrives)).to.deep.equal([
      409,
      'invalid_transition',
    ])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('freeze what they count though another file brought it, not what came after the proof', async () => {
    const a = await openBank()
    const { finance, refused, on } = a
    const line = (day: string, amount: string, id: string) => ({ on: on(day), amount, id, memo: `PIX ${id}` })
    const [early, late] = [line('09-10', '10.00', 'A'), line('09-28', '5.00', 'B')]
    const month = await a.taken(ofxFile([early, late], { balance: '1015.00', to: on('09-30') }))
    // The first half of the month once more: its line is known, and belongs to the file of the month.
    const halfFile = ofxFile([early], { balance: '1010.00', to: on('09-15') })
    const half = await a.taken(
      Buffer.from(
        halfFile.toString('latin1').replace('<BANKTRANLIST>', `<BANKTRANLIST><DTEND>${on('09-15')}`),
        'latin1',
      ),
    )
    expect(half.counts).to.include({ added: 0, known: 1 })
    const income = await a.account('7.1')
    const book = (amount: number) => [{ book: { accountId: income, amount, description: 'Interest' } }]
    const [first] = await a.lines(`bankStatementId=${month.id}&to=${on('09-15')}`)
    expect((await a.match(first?.id as string, book(1_000)))[0]).to.equal(200)
    expect((await a.step(half.id as string, 'reconcile'))[0]).to.equal(200)
    const unmatch = `cash/bank-statement-lines/${first?.id}/unmatch`
    expect(await refused(finance, 'POST', unmatch)).to.deep.equal([409, 'movement_reconciled'])
    const raw = a.rows(`update bank_statement_line set status = 'unmatched' where id = :id`, { id: first?.id })
    expect(await raw.then(String, (error: { code?: string }) => error.code)).to.equal('PL076')
    // A line that the bank brought after the proof is matched and opened again; the proof does not count it.
    const after = await a.taken(ofxFile([early, line('09-11', '3.00', 'C')], { balance: '1013.00', to: on('09-20') }))
    const [added] = await a.lines(`bankStatementId=${after.id}`)
    expect((await a.match(added?.id as string, book(300)))[0]).to.equal(200)
    expect((await a.post(finance, 'POST', `cash/bank-statement-lines/${added?.id}/unmatch`))[0]).to.equal(200)
    expect((await a.step(half.id as string, 'reopen', { reason: 'Once more' }))[0]).to.equal(200)
    expect((await a.post(finance, 'DELETE', `cash/bank-statements/${after.id}`))[0]).to.equal(200)
    // In the same moment one of the two is refused, whichever comes first.
    for (let round = 0; round < 4; round += 1) {
      const [proof, opened] = await Promise.all([
        a.step(half.id as string, 'reconcile'),
        a.post(finance, 'POST', unmatch),
      ])
      expect([proof[0], opened[0]], JSON.stringify([proof[1], opened[1]])).to.be.deep.oneOf([
        [200, 409],
        [422, 200],
      ])
      if (proof[0] === 200) await a.step(half.id as string, 'reopen', { reason: 'Once more' })
      else await a.match(first?.id as string, book(1_000))
    }
  })
})
