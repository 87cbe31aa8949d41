import { expect } from 'chai'
import fc from 'fast-check'
import { builtInTemplates } from '../../config/message-texts/templates.ts'
import { builtInTexts } from '../../config/message-texts/texts.ts'
import { messageVariables } from '../../config/message-variables.ts'
import type { MessageVariable } from '../../config/message-variables.ts'
import { checkContents, contentFor, htmlOf } from '../../db/ocp/rules/contents.ts'
import type { Content } from '../../db/ocp/rules/contents.ts'
import { parseTemplate, renderTemplate, variablesOf } from '../../db/ocp/rules/template.ts'
import type { Value } from '../../db/ocp/rules/template.ts'

const known: MessageVariable[] = [
  { path: 'guest.firstName', type: 'text', nullable: true, example: 'Ana' },
  { path: 'arrival', type: 'day', nullable: false, example: '2026-12-24' },
  { path: 'total', type: 'money', nullable: false, example: 1 },
  { path: 'at', type: 'instant', nullable: false, example: '' },
  { path: 'from', type: 'clock', nullable: false, example: '14:00' },
  { path: 'nights', type: 'integer', nullable: false, example: 2 },
]
const fill = (text: string, values: Record<string, Value>, as: 'line' | 'text' | 'html' = 'text', locale = 'en-GB') => {
  const { template, problems } = parseTemplate(text, known, 'text')
  expect(problems).to.deep.equal([])
  return renderTemplate(template, new Map(Object.entries(values)), { as, locale, timeZone: 'America/Sao_Paulo' })
}
const problemsOf = (text: string) => parseTemplate(text, known, 'text').problems.map((one) => one.message)

describe('message templates', () => {
  it('fill in names, with a default for what is missing', () => {
    expect(fill('Dear {{guest.firstName | default:"guest"}},', { 'guest.firstName': 'Ana' }).text).to.equal('Dear Ana,')
    expect(fill('Dear {{guest.firstName | default:"guest"}},', { 'guest.firstName': null }).text).to.equal(
      'Dear guest,',
    )
    expect(fill('Dear {{guest.firstName|default:""}}!', {})).to.deep.equal({ text: 'Dear !', missing: [] })
    expect(fill('Dear {{ guest.firstName }}!', {})).to.deep.equal({ text: 'Dear !', missing: ['guest.firstName'] })
  })

  it('write dates, times and money as the reader does', () => {
    const values: Record<string, Value> = {
      arrival: { type: 'day', day: '2026-12-24' },
      total: { type: 'money', amount: 123_456, currency: 'BRL' },
      at: { type: 'instant', at: new Date('2026-11-20T01:30:00Z') },
      from: { type: 'clock', time: '14:00' },
      nights: 2,
    }
    expect(fill('{{arrival | date}}', values).text).to.match(/^Thursday,? 24 December 2026$/)
    expect(fill('{{arrival | date}}', values, 'text', 'pt-BR').text).to.equal('quinta-feira, 24 de dezembro de 2026')
    expect(fill('{{total | money}}', values, 'text', 'pt-BR').text).to.equal('R$ 1.234,56')
    expect(fill('{{total}}', values, 'text', 'en').text).to.equal('R$1,234.56')
    expect(fill('{{at | time}} {{at | date}}', values).text, 'the day is the one of the property').to.match(
      /^22:30 Thursday,? 19 November 2026$/,
    )
    expect(fill('{{from | time}}, {{nights}}', values, 'text', 'en').text).to.equal('2:00 PM, 2')
    expect(fill('{{total}}', { total: { type: 'money', amount: 500, currency: 'JPY' } }, 'text', 'ja').text).to.match(
      /500$/,
    )
  })

  it('refuse unknown names, filters that do not fit, and what is no tag', () => {
    expect(problemsOf('{{guest.password}}')[0]).to.contain('not known')
    expect(problemsOf('{{constructor}} {{guest.firstName.length}} {{__proto__}}')).to.have.length(3)
    expect(problemsOf('{{nights | money}}')[0]).to.contain('no money')
    expect(problemsOf('{{nights | upper}}')[0]).to.contain('not of the form')
    expect(problemsOf('{{#if nights}}x{{/if}}')).to.have.length(2)
    expect(problemsOf('{{nights')[0]).to.contain('other half')
    expect(problemsOf('nights}}')[0]).to.contain('other half')
  })

  it('never read a value as template, as markup, or as a further header', () => {
    const nasty = 'A{{total}}\r\nBcc: x@y.example\u2028<script>alert("1")</script>\u0000'
    const values: Record<string, Value> = {
      'guest.firstName': nasty,
      total: { type: 'money', amount: 1, currency: 'BRL' },
    }
    expect(fill('{{guest.firstName}}', values, 'line').text).to.equal(
      'A{{total}} Bcc: x@y.example <script>alert("1")</script>',
    )
    expect(fill('<p>{{guest.firstName}}</p>', values, 'html').text).to.equal(
      '<p>A{{total}} Bcc: x@y.example &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;</p>',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const line = fill('{{guest.firstName | default:"x"}}', { 'guest.firstName': value }, 'line').text
        const html = fill('{{guest.firstName | default:"x"}}', { 'guest.firstName': value }, 'html').text
        return !/\p{Cc}/u.test(line) && !/[<>"']/.test(html)
      }),
    )
  })

  it('ship complete: three languages, no unknown name, a default for whatever may be empty', () => {
    for (const { key, context } of builtInTemplates)
      for (const { locale, texts } of builtInTexts) {
        const { subject, text, sms } = texts[key]
        const contents = [
          { channel: 'email', locale, subject, text, html: htmlOf(text), contentSid: null, contentVariables: null },
        ] as Content[]
        expect(checkContents(context, contents).problems, `${key} ${locale}`).to.deep.equal([])
        for (const part of [subject, text, sms])
          for (const name of variablesOf(parseTemplate(part, messageVariables[context], '').template).filter((path) =>
            ['code', 'link'].includes(path),
          ))
            expect(part, `${key} ${locale} ${name}`).to.match(new RegExp(`\\{\\{${name} \\| default:`))
        expect(sms.length, 'one or two segments').to.be.lessThan(300)
      }
    const [first, ...others] = builtInTexts.map(({ texts }) =>
      builtInTemplates.map(({ key, context }) =>
        variablesOf(parseTemplate(texts[key].text, messageVariables[context], '').template).sort(),
      ),
    )
    for (const other of others) expect(other, 'each language says the same').to.deep.equal(first)
  })

  it('make paragraphs of a plain text, and escape all but its tags', () => {
    expect(htmlOf('a < b\nc\n\n{{code | default:"x"}}'))
      .to.contain('a &lt; b<br>\nc</p>')
      .and.to.contain('{{code | default:"x"}}</p>')
  })

  it('are read in the language of the reader, its base, the house, else the first', () => {
    const of = (locale: string) =>
      ({
        channel: 'email',
        locale,
        subject: locale,
        text: locale,
        html: null,
        contentSid: null,
        contentVariables: null,
      }) as Content
    const contents = [of('en'), of('pt'), of('es')]
    expect(contentFor(contents, 'email', 'pt-BR', ['en'])?.locale).to.equal('pt')
    expect(contentFor(contents, 'email', 'de', ['es', 'pt'])?.locale).to.equal('es')
    expect(contentFor(contents, 'email', null, ['pt-BR'])?.locale).to.equal('pt')
    expect(contentFor(contents, 'email', 'de', ['fr'])?.locale).to.equal('en')
    expect(contentFor(contents, 'whatsapp', 'en', [])).to.equal(null)
  })
})
