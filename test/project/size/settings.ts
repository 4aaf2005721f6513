/** A part of a JSON Schema: what says which settings there are below it. */
export interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
}

/**
 * The paths at which a setting has a value, each once: `notify.on[]`, `source.columns.*`. A setting that is a value or a group
 * counts as a value, and each member of the group.
 */
export function listLeaves(node: SchemaNode, path = ''): ReadonlySet<string> {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { additionalProperties: others } = node;
  const parts = [
    ...Object.entries(node.properties ?? {}).map(([name, part]) => listLeaves(part, below(name))),
    ...(node.items ? [listLeaves(node.items, `${path}[]`)] : []),
    ...(typeof others === 'object' ? [listLeaves(others, below('*'))] : []),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])].map((part) =>
      listLeaves(part, path),
    ),
  ];
  return new Set(parts.length > 0 ? parts.flatMap((leaves) => [...leaves]) : [path]);
}
