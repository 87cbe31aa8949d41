import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { needlessCodes } from '../../api/lib/codes.ts'
import { routes } from '../../api/routes.ts'
import { errorCodes } from '../../config/error-codes.ts'
import { checkContract } from '../support/contract.ts'
import { allTexts, textsOf } from '../support/reach.ts'

const codes = Object.values(errorCodes).flatMap((group) => Object.keys(group))
const mappings = readFileSync(new URL('../../db/lib/errors.ts', import.meta.url), 'utf8')

/** Codes for refusals of the database that have no name of their own, wherever a record is written. */
const unnamed = new Set(['duplicate', 'overlap', 'reference_not_found', 'rule_violated'])
const constraints = [...mappings.matchAll(/^ {2}(\w+): \(\) =>\s+\w+\('(\w+)'/gm)].map(([, name = '', code = '']) => ({
  name,
  code,
}))

/** Codes of constraints on tables that some text writes to. */
const ofTables = (text: string): string[] => {
  const written = new Set(
    [
      ...text.matchAll(
        /(?:insert into|update|delete from) (\w+)|\bmodel(?:<[^(]*>)?\('(\w+)'|(?:insert|change)\w*\(\s*\w+,\s*'(\w+)'/g,
      ),
    ].map(([, inText, ofModel, named]) => inText ?? ofModel ?? named ?? ''),
  )
  return constraints
    .filter(({ name }) => [...written].some((table) => name.startsWith(`${table}_`)))
    .map(({ code }) => code)
}

describe('the codes of errors', () => {
  it('are each thrown somewhere', () => {
    const text = allTexts(['api', 'config', 'db'])
      .filter((part) => !part.startsWith('export const errorCodes'))
      .join('\n')
    const served = readFileSync(new URL('../../api/server.ts', import.meta.url), 'utf8')
    expect(codes.filter((code) => !text.includes(`'${code}'`) && !served.includes(`'${code}'`))).to.deep.equal([])
  })

  it('stand on a route that can throw them, once, and on none whose kind has them', () => {
    const found = routes.flatMap((route) => {
      const text = textsOf(route).join('\n')
      const thrown = new Set([...ofTables(text), ...unnamed])
      const idle = (route.errors ?? []).filter((code) => !text.includes(`'${code}'`) && !thrown.has(code))
      return [
        ...idle.map((code) => `${route.id} cannot throw ${code}`),
        ...needlessCodes(route).map((code) => `${route.id} need not name ${code}`),
      ]
    })
    expect(found).to.deep.equal([])
  })

  it('are refused by the check of every test where neither the route nor its kind declares them', () => {
    const reply = (code: string, status = 409) => ({
      status,
      headers: { 'x-request-id': '1' },
      body: { statusCode: status, code, message: 'No', requestId: '1' },
    })
    const path = `/api/tenants/${'0'.repeat(36)}/seasons`
    const check = (code: string, status?: number) => () =>
      checkContract('POST', '/api/auth/sign-in/email', reply(code, status))
    expect(check('invalid_credentials', 401)).to.not.throw()
    expect(check('rate_limited', 429)).to.not.throw()
    expect(check('sold_out')).to.throw('answered sold_out, which auth.signIn does not declare')
    expect(() => checkContract('GET', `${path}/nowhere`, reply('not_found', 404))).to.not.throw()
    expect(() => checkContract('GET', `${path}/nowhere`, reply('sold_out'))).to.throw('no endpoint')
  })
})
