import { expect } from 'chai'
import { isOfAccount } from '../../db/cash/rules/account-numbers.ts'
import type { OwnAccount, WrittenAccount } from '../../db/cash/rules/account-numbers.ts'

const own: OwnAccount = { bankCode: '341', ispb: '60701190', branch: '0341', number: '12345-6' }

describe('the number of an account in the file of a bank', () => {
  const fits = (written: Partial<WrittenAccount>, more: Partial<OwnAccount> = {}): boolean =>
    isOfAccount({ bank: null, account: null, ...written }, { ...own, ...more })

  it('is taken as banks write it', () => {
    for (const account of [
      '12345-6',
      '123456',
      '000000123456',
      '0000000012345-6',
      '12.345-6',
      '0341123456',
      '34100123456',
      '0341-123456',
      '0341/12345-6',
      '0341-7/12345-6',
      '341 000012345-6',
    ])
      expect(fits({ account }), account).to.equal(true)
    expect(fits({ account: '34170000123456' }, { branch: '0341-7' }), 'the branch with its check digit').to.equal(true)
    expect(fits({ account: '12345X' }, { number: '12345-x' }), 'a letter as check digit').to.equal(true)
    const caixa = { bankCode: '104', branch: '0421', number: '1234-5' }
    for (const account of ['0421003000012345', '0421129200000012345', '042100012345'])
      expect(fits({ account }, caixa), account).to.equal(true)
  })

  it('is not taken for one that another number ends with', () => {
    for (const account of ['9912345-6', '9123456', '9999123456', '0342123456', '03419123456', '0341/912345-6'])
      expect(fits({ account }), account).to.equal(false)
    for (const account of ['0341123456', '99123456'])
      expect(fits({ account }, { branch: null }), `${account}, of an account without a branch`).to.equal(false)
    const caixa = { bankCode: '104', branch: '0421', number: '1234-5' }
    for (const account of ['0421003009912345', '0422003000012345', '042199999912345'])
      expect(fits({ account }, caixa), account).to.equal(false)
  })

  it('has its check digit', () => {
    for (const account of ['12345-7', '12345', '1234-5', '123450']) expect(fits({ account }), account).to.equal(false)
    expect(fits({ account: '12345-6' }, { number: '12345' })).to.equal(false)
  })

  it('is of its branch and bank, where the file says them', () => {
    for (const branch of ['0341', '341', '0341-7', '00341', '03417', null])
      expect(fits({ branch, account: '12345-6' }), branch ?? 'none').to.equal(branch !== '03417')
    for (const branch of ['0342', '3410', '1341']) expect(fits({ branch, account: '12345-6' }), branch).to.equal(false)
    expect(fits({ branch: '0342', account: '12345-6' }, { branch: null })).to.equal(true)
    expect(fits({ account: '0342/12345-6' })).to.equal(false)
    for (const bank of ['341', '0341', '60701190']) expect(fits({ bank, account: '12345-6' }), bank).to.equal(true)
    expect(fits({ bank: '001', account: '12345-6' })).to.equal(false)
    expect(fits({ bank: '001', account: '12345-6' }, { bankCode: null, ispb: null })).to.equal(true)
  })

  it('is not compared where file or account has none', () => {
    expect(fits({})).to.equal(true)
    expect(fits({ account: '999' }, { number: null, branch: null })).to.equal(true)
  })
})
