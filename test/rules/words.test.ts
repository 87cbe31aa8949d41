import { expect } from 'chai'
import { Words } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'

const check = compile(Words(1, 200))

describe('what people call or say', () => {
  it('is seen: no spaces, marks of no width or fillers alone', () => {
    for (const text of [
      '   ',
      '\u00a0\u3000',
      '\u200b',
      '\u200c\u200d\u2060\ufeff',
      '\u00ad',
      '\u202e\u2066',
      '\u3164',
      '\u2800',
      '\ufe0f',
    ])
      expect(check(text), JSON.stringify(text)).to.deep.equal([
        { field: '', message: 'must not be blank or hold control characters' },
      ])
  })

  it('is steered by lines and tabs alone', () => {
    for (const code of [0, 1, 7, 8, 11, 12, 14, 27, 31, 127, 133, 159])
      expect(check(`Ana${String.fromCharCode(code)}`), String(code)).to.have.length(1)
    expect(check('Two lines,\r\n\tthe second further in')).to.equal(null)
  })

  it('may be of any script, of signs, and hold marks of no width where a script needs them', () => {
    for (const text of [
      'Ana',
      '7',
      '?',
      '-',
      '李',
      'مرحبا',
      'می‌خواهم',
      'नमस्ते',
      'é'.normalize('NFD'),
      '👩‍👩‍👧',
      '🇧🇷',
      ' x ',
      '\u200bx',
    ])
      expect(check(text), text).to.equal(null)
  })
})
