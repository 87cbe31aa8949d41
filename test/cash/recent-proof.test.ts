import { expect } from 'chai'
import { routes } from '../../api/routes.ts'
import { sql } from '../../db/lib/connection.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { forgetLimits } from '../auth/support.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { credentials, key } from './pix-desk.ts'

describe('what moves money needs a proof of identity of the last ten minutes', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  const threshold = 50_000

  const proveBefore = async (minutes: number) => {
    await sql(world.database.admin, `update session set reauthenticated_at = now() - make_interval(mins => ?)`, [
      minutes,
    ])
    await world.redis.flushall()
  }
  /** Refused on an old proof; taken on a new one. Answers the reply of the second. */
  const needsProof = async (method: string, path: string, body: object): Promise<Parsed> => {
    await proveBefore(11)
    expect(await a.refused(a.owner, method, path, body), `${method} ${path}`).to.deep.equal([
      403,
      'reauthentication_required',
    ])
    await proveBefore(9)
    return a.good(a.owner, method, path, body)
  }

  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(10_000_000, a.on('01-01'))
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await proveBefore(0)
  })

  it('the rules of approval, and the Pix connection of an account', async () => {
    await needsProof('PATCH', `financial/books/${a.bookId}`, { approvalThreshold: threshold })
    await needsProof('PATCH', `financial/books/${a.bookId}`, { singleOperator: false })
    const bands = [{ from: 0, approvals: 1, roles: ['owner', 'finance'] }]
    const policy = `accounts-payable/approval-policy?bookId=${a.bookId}`
    const rules = { bands, coolOffHours: 0, priceTolerance: 200 }
    await needsProof('PUT', policy, rules)
    // The wait for bank details is that of the default book.
    await a.good(a.owner, 'PUT', 'accounts-payable/approval-policy', rules)
    const connection = { provider: 'sandbox', credentials }
    await needsProof('PUT', `cash/accounts/${bankId}/pix`, { keys: [{ type: 'random', key }], connection })
    await world.drain()
  })

  it('the approval of a Pix above the threshold, not of one at it', async () => {
    const ask = async (amount: number): Promise<string> =>
      (
        await a.good(a.finance, 'POST', 'cash/transfers', {
          fromAccountId: bankId,
          method: 'pix',
          amount,
          purpose: 'Roof',
          accountId: await a.account('6.1.10'),
          payee: { keyType: 'email', key: 'obra@obra.example' },
        })
      ).id
    const [at, above] = [await ask(threshold), await ask(threshold + 1)]
    await proveBefore(11)
    expect(await a.good(a.owner, 'POST', `cash/transfers/${at}/approve`)).to.include({ status: 'approved' })
    const approved = await needsProof('POST', `cash/transfers/${above}/approve`, {})
    expect(approved).to.include({ status: 'approved' })
  })

  it('bank details of a supplier, proposed and approved, and a payment to them above the threshold', async () => {
    const { id: supplierId } = await a.supplier()
    const path = `accounts-payable/suppliers/${supplierId}`
    const details = { bankDetails: { details: { keyType: 'email', key: 'contas@obra.example' } } }
    await needsProof('PATCH', path, details)
    // Another person proposes what the owner decides.
    const { pendingBankDetails } = await a.good(a.finance, 'PATCH', path, details)
    const decision = { version: pendingBankDetails.version, decision: 'approve' }
    await needsProof('POST', `${path}/bank-details/approve`, decision)
    await proveBefore(11)
    await a.good(a.owner, 'PATCH', path, { termDays: 10 })
    const pay = async (amount: number): Promise<string> => {
      const accountId = await a.account('6.4.03')
      const bill = await a.bill({
        supplierId,
        issuedOn: a.on('03-10'),
        lines: [{ description: 'Work', accountId, amount }],
      })
      const { id } = await a.good(a.finance, 'POST', 'accounts-payable/payments', {
        method: 'pix',
        cashAccountId: bankId,
        items: [{ installmentId: bill.installments[0].id }],
      })
      return id as string
    }
    const [at, above] = [await pay(threshold), await pay(threshold + 1)]
    const approval = (id: string) => `accounts-payable/payments/${id}/approve`
    expect(await a.good(a.owner, 'POST', approval(at))).to.include({ status: 'approved' })
    expect(await needsProof('POST', approval(above), {})).to.include({ status: 'approved' })
  })

  it('an entry in the ledger above the threshold', async () => {
    const write = async (amount: number): Promise<string> => {
      const [debit, credit] = [await a.account('6.1.10'), await a.account('7.1')]
      const { id } = await a.good(a.finance, 'POST', 'financial/entry-drafts', {
        bookId: a.bookId,
        postingDate: a.house.today,
        description: 'Correction',
        lines: [
          { accountId: debit, debit: amount },
          { accountId: credit, credit: amount },
        ],
      })
      await a.good(a.finance, 'POST', `financial/entry-drafts/${id}/submit`)
      return `financial/entry-drafts/${id}/approve`
    }
    const [at, above] = [await write(threshold), await write(threshold + 1)]
    await proveBefore(11)
    await a.good(a.owner, 'POST', at, {})
    await needsProof('POST', above, {})
  })

  it('an account at a gateway, opened and left', async () => {
    const { id } = await needsProof('POST', 'payments/accounts', {
      provider: 'sandbox',
      label: 'Front desk',
      country: 'BR',
      currency: 'BRL',
      bookId: a.bookId,
    })
    await world.drain()
    await needsProof('POST', `payments/accounts/${id}/disconnect`, {})
  })

  it('and nothing else of the money: each command that asks for it is named above', () => {
    const declared = routes
      .filter(({ errors }) => (errors as readonly string[] | undefined)?.includes('reauthentication_required'))
      .map(({ id }) => id)
      .filter((id) => !/^(superuser|entitlements|apiKeys|roles|users|me|mfa|totp|auth|account)\b/.test(id))
    expect(declared.toSorted()).to.deep.equal([
      'approvalPolicy.set',
      'books.update',
      'cashAccounts.setPix',
      'cashTransfers.approve',
      'entryDrafts.approve',
      'gatewayAccounts.create',
      'gatewayAccounts.disconnect',
      'payablePayments.approve',
      'suppliers.decideBankDetails',
      'suppliers.update',
    ])
  })
})
