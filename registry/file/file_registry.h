#ifndef FAIRLEAD_REGISTRY_FILE_FILE_REGISTRY_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_REGISTRY_H_

#include <memory>

#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Registries in files, for development, tests and sites without a registry product:
//
//   file:///etc/acme/providers.txt     one file
//   file:///etc/acme/providers         every file of the directory, in name order
//
// Escapes `%XX` in the path are decoded. One url a line:
//
//   # comment
//   dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0&weight=200
//   override://0.0.0.0/com.acme.Orders?version=1.0.0&weight=50
//   route://0.0.0.0/*?version=1.0.0&rule=method%3Dget%20%3D%3E%20region%3Dhz
//
// A line belongs to the service it names (`interface`, else the path; group and version count as in every
// registry) and to the category it names (`category`), or without one to that of its protocol: override and
// absent are configurators, route, condition and script are rules, consumer is a consumer, all else is a
// provider. A rule for `*` is for every service of its group and version. Lines that cannot be read are
// skipped, each logged with file and number (FL-5-1) and shown by Explain of every service until it is mended.
//
// Reading. Changes are noticed at once (inotify; where that is not to be had, within a second) and used when
// the files have been still for 100 ms, or 1 s while a last line has no end. Best replace a file by renaming
// another one over it, which is never seen by half; links count with all they lead over, so a mounted
// Kubernetes ConfigMap works. A file that is missing or has no bytes is a path that vanished: the last lists
// serve for `missing.grace` (30 s), then they are empty, and so is an empty directory in a file's place; a file
// with a comment only is empty at once. One that is missing at the start is waited for. One that has lines, but
// no url, cannot be read: the last lists serve until it is mended. Of a directory, hidden files, editors' leftovers (`*~`,
// `*.swp`, `*.tmp`, `*.bak`, `#*`) and subdirectories do not count; a deleted file takes its urls with it, an
// unreadable or emptied one keeps them until it is readable or deleted. At most 1 000 files, 16 MiB each, 64
// MiB together.
//
// Registering. In a directory a process keeps a file of its own, fairlead-<pid>-<number>.urls, replaced as a
// whole with each change and deleted with the last url; urls with dynamic=false stay. A process that is
// killed leaves its file behind, for there is no server to notice. A single file is never written:
// registering a provider in it is kFailedPrecondition, and so is it where nothing is yet. A url that readers would skip (more than 64 KiB, control
// characters, no host) is kInvalidArgument. Consumers are not stored.
//
// Rule documents of the config center are read from <directory>/config/<group>/<key>.
//
// Files are read on the executor, so keep them on a local disk. Each registry has a thread, fl-file, with all
// signals blocked, that sleeps until something happens.
std::unique_ptr<RegistryFactory> MakeFileRegistryFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_REGISTRY_H_
