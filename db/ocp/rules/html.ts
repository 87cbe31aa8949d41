import { parse } from 'parse5'
import type { DefaultTreeAdapterTypes } from 'parse5'
import type { FieldError } from '../../../config/errors.ts'
import type { MessageVariable } from '../../../config/message-variables.ts'

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

/** Elements that mail programs show. None of them can run, send or load anything. */
const allowed = new Set(
  `html head body title style meta a abbr address article aside b blockquote br caption center code col colgroup dd del div dl dt em
   figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins li main nav ol p pre s section small span strike strong sub sup
   table tbody td tfoot th thead tr u ul`.split(/\s+/),
)
const addressed = new Set(['href', 'src', 'background', 'cite', 'longdesc'])
const refusedAttributes = new Set(['srcset', 'srcdoc', 'formaction', 'action', 'ping', 'poster', 'http-equiv', 'xmlns'])

const isElement = (node: Node): node is Element => 'tagName' in node

const opensOne = (text: string) => /^(https:\/\/|mailto:|tel:)/i.test(text)

/** Only these open an address: a value of ours or of a guest never decides on the scheme, nor does the default of a link that is empty. */
const isAddress = (value: string, links: readonly string[]): boolean => {
  const text = value.trim()
  if (opensOne(text)) return true
  const [, path, tail = ''] = /^\{\{\s*([A-Za-z0-9.]+)\s*(\|[^{}]*)?\}\}$/.exec(text) ?? []
  const fallback = /default:\s*"([^"]*)"/.exec(tail)?.[1] ?? ''
  return path !== undefined && links.includes(path) && (fallback === '' || opensOne(fallback))
}

const ofAttribute = (element: Element, html: string, links: readonly string[]): string[] =>
  element.attrs.flatMap(({ name, value }) => {
    const here = `the attribute ${name.slice(0, 40)} of <${element.tagName}>`
    if (/[^a-z0-9:_-]/.test(name)) return [`${here} has no name that HTML knows`]
    if (name.startsWith('on') || refusedAttributes.has(name)) return [`${here} is not allowed`]
    if (addressed.has(name) && !isAddress(value, links)) return [`${here} must be an address of https, mailto or tel`]
    if (name === 'style' && isActiveStyle(value)) return [`${here} loads or runs something`]
    const place = element.sourceCodeLocation?.attrs?.[name]
    const source = place ? html.slice(place.startOffset, place.endOffset) : ''
    // A value without quotes could begin another attribute.
    if (value.includes('{{') && !/=\s*["']/.test(source)) return [`${here} needs quotes around its value`]
    return []
  })

const isActiveStyle = (text: string) =>
  /@import|expression\s*\(|behavior\s*:|-moz-binding|\\|\{\{/i.test(text) || /url\(\s*["']?(?!https:\/\/)/i.test(text)

const textOf = (element: Element) => element.childNodes.map((child) => ('value' in child ? child.value : '')).join('')

const walk = (node: Node, html: string, links: readonly string[]): string[] => {
  const found: string[] = []
  if (node.nodeName === '#comment' && 'data' in node && node.data.includes('{{')) found.push('a comment has a variable')
  if (isElement(node)) {
    if (!allowed.has(node.tagName)) return [`<${node.tagName.slice(0, 40)}> is not allowed`]
    found.push(...ofAttribute(node, html, links))
    if (node.tagName === 'style' && isActiveStyle(textOf(node))) found.push('<style> loads or runs something')
  }
  for (const child of 'childNodes' in node ? node.childNodes : []) found.push(...walk(child, html, links))
  return found
}

/** Whatever of an HTML text must not be in a mail (R16): scripts, forms, frames, event attributes, addresses other than https, mailto and tel. */
export const judgeHtml = (html: string, known: readonly MessageVariable[], field: string): FieldError[] => {
  const links = known.filter(({ type }) => type === 'link').map(({ path }) => path)
  const found = walk(parse(html, { sourceCodeLocationInfo: true }), html, links)
  return [...new Set(found)].slice(0, 20).map((message) => ({ field, message }))
}
