#!/usr/bin/env bash
# Fails when a folder includes what its layer may not use (the table stands in docs/architecture.md).
# Usage: check_layers.sh SOURCE_DIR
set -euo pipefail
cd "$1"

declare -A may=(
  [base]="base"
  [url]="base url"
  [rpc]="base url rpc"
  [registry]="base url registry"
  [registry/memory]="base url registry registry/memory"
  [registry/file]="base url registry registry/file"
  [registry/multicast]="base url registry registry/multicast"
  [registry/delegate]="base url registry registry/delegate"
  [registry/redis]="base url registry registry/redis"
  [registry/zookeeper]="base url registry registry/zookeeper"
  [routing]="base url rpc routing"
  [routing/yaml]="base url rpc routing routing/yaml"
  [routing/lint]="base url rpc routing routing/yaml routing/lint"
  [loadbalance]="base url rpc loadbalance"
  [directory]="base url rpc registry routing routing/yaml routing/lint loadbalance directory"
  [cluster]="base url rpc registry routing loadbalance directory cluster"
  # Apart from cluster, which must not know a concrete registry: the list of what this build has.
  [extensions]="extensions registry registry/memory registry/file registry/multicast registry/delegate registry/redis registry/zookeeper routing routing/yaml loadbalance cluster"
)
# Outside headers a public header of ours may show.
public_outside='^(absl/status/[a-z_]+\.h|absl/functional/any_invocable\.h|absl/strings/string_view\.h)$'

bad=0
complain() { echo "layers: $*" >&2; bad=1; }

folder_of() {  # the most specific folder of the table that holds the path
  case "$1" in
    cluster/default_extensions.*) echo extensions ;;
    registry/memory/* | registry/file/* | registry/multicast/* | registry/delegate/* | registry/redis/* | registry/zookeeper/* | routing/yaml/* | routing/lint/*) cut -d/ -f1-2 <<<"$1" ;;
    *) cut -d/ -f1 <<<"$1" ;;
  esac
}

while IFS=: read -r file line text; do
  folder=$(folder_of "$file")
  [ -n "${may[$folder]:-}" ] || continue
  path=$(sed -E 's/^ *# *include *[<"]([^>"]*)[>"].*/\1/' <<<"$text")
  if [[ $path == fairlead/* ]]; then
    target=$(folder_of "${path#fairlead/}")
    [[ " ${may[$folder]} " == *" $target "* ]] || complain "$file:$line: $folder may not include $path"
    [ -f "${path#fairlead/}" ] || complain "$file:$line: no such header: $path"
  elif [[ $text == *\"*\"* && $path != absl/* && $path != re2/* && $path != asio/* ]]; then
    complain "$file:$line: write \"fairlead/...\" for our headers, <...> for outside ones: $path"
  elif [[ $file == *.h && $path == */* && ! $path =~ $public_outside && $path != sys/* ]]; then
    # Private headers (not installed) may show what the layer uses inside.
    grep -qF "${file##*/}" "$folder/CMakeLists.txt" 2>/dev/null &&
      ! grep -qE "^# private: .*\b${file##*/}" "$folder/CMakeLists.txt" &&
      complain "$file:$line: a public header may not include $path"
  fi
  case "$path" in
    asio* ) [[ $file == *.cc && $folder =~ ^(base|registry/) ]] || complain "$file:$line: Asio only in .cc files of base and registries" ;;
    yaml-cpp/* ) [[ $folder == routing/yaml && $file == *.cc ]] || complain "$file:$line: yaml-cpp only in routing/yaml" ;;
    re2/* ) [[ $folder == routing || $folder == routing/yaml ]] || complain "$file:$line: RE2 only in routing" ;;
    nettle/* ) [[ $folder == loadbalance && $file == *.cc ]] || complain "$file:$line: nettle only in loadbalance" ;;
    hiredis/* ) [[ $folder == registry/redis && $file == *.cc ]] || complain "$file:$line: hiredis only in .cc files of registry/redis" ;;
    zookeeper/* ) [[ $folder == registry/zookeeper ]] || complain "$file:$line: ZooKeeper's client only in registry/zookeeper" ;;
    iostream ) complain "$file:$line: iostream has static initialisers; the library must have none" ;;
  esac
done < <(grep -nE '^ *# *include' -r base url rpc registry routing loadbalance directory cluster --include='*.h' --include='*.cc')

exit $bad
